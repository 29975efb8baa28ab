//! `bench FILE OUTPUT`: indexes a file in memory again and again, and writes the seconds of each pass, one number a line.
//!
//! How many passes comes from PERFGATE_WARMUP and PERFGATE_ITERATIONS; perfgate drops the warm-up itself.

use std::{env, error::Error, fs, hint::black_box, time::Instant};

use wordindex::Index;

fn from_environment(name: &str, otherwise: usize) -> usize {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let (file, output) = match arguments.as_slice() {
        [_, file, output] => (file, output),
        _ => return Err("usage: bench FILE OUTPUT".into()),
    };
    let text = fs::read_to_string(file)?;
    let passes = from_environment("PERFGATE_WARMUP", 1) + from_environment("PERFGATE_ITERATIONS", 10);
    let mut seconds = String::new();
    for _ in 0..passes {
        let start = Instant::now();
        let index = black_box(Index::of(black_box(&text)));
        let taken = start.elapsed().as_secs_f64();
        // freed outside of what is timed
        drop(index);
        seconds += &format!("{taken:.9}\n");
    }
    fs::write(output, seconds)?;
    Ok(())
}
