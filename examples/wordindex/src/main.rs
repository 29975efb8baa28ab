//! `wordindex FILE WORD...`: prints the lines of a file that hold all of these words.

use std::{env, fs, process::ExitCode};

use wordindex::Index;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (file, words) = match arguments.split_first() {
        Some(split) => split,
        None => {
            eprintln!("usage: wordindex FILE WORD...");
            return ExitCode::from(2);
        }
    };
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("wordindex: {file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let index = Index::of(&text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let lines: Vec<&str> = text.lines().collect();
    for number in index.lines_with_all(&words) {
        println!("{}: {}", number + 1, lines[number as usize]);
    }
    println!("{} different words", index.words());
    ExitCode::SUCCESS
}
