pub fn work(n: u64) -> u64 { (0..n).fold(0, |a, b| a ^ b.rotate_left(7)) }
