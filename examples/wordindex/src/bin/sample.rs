//! `sample COUNT`: prints a text of COUNT made-up words, ten a line, always the same one.

use std::{env, io::Write};

const SYLLABLES: [&str; 16] =
    ["An", "ber", "cor", "dé", "el", "fir", "gan", "hol", "in", "jor", "kel", "lu", "mar", "nor", "øst", "per"];

/// Numerical Recipes' linear congruential generator: the sample is the same with every version of Rust.
fn next_number(state: &mut u32, below: u32) -> u32 {
    *state = state.wrapping_mul(1664525).wrapping_add(1013904223);
    (*state >> 8) % below
}

fn main() -> std::io::Result<()> {
    let count = env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1000);
    let mut state = 1;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for number in 1..=count {
        // one to three syllables: some words are frequent, as in a real text
        let length = 1 + next_number(&mut state, 3);
        let word: String = (0..length).map(|_| SYLLABLES[next_number(&mut state, 16) as usize]).collect();
        let end = if number % 10 == 0 { ".\n" } else { " " };
        write!(out, "{word}{end}")?;
    }
    out.flush()
}
