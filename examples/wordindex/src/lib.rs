//! An index of the words of a text: which lines hold a word, or all of several words.

use std::collections::{BTreeSet, HashMap};

/// Line numbers of every word, in ascending order; lines count from 0.
#[derive(Default)]
pub struct Index {
    lines: HashMap<String, Vec<u32>>,
}

impl Index {
    /// Reads a text line by line. Words are runs of letters and digits; capitals do not matter.
    pub fn of(text: &str) -> Index {
        let mut index = Index::default();
        for (number, line) in text.lines().enumerate() {
            let words: BTreeSet<String> = words(line).map(str::to_lowercase).collect();
            for word in words {
                index.add(word, number as u32);
            }
        }
        index
    }

    fn add(&mut self, word: String, line: u32) {
        self.lines.entry(word).or_default().push(line);
    }

    /// The number of different words.
    pub fn words(&self) -> usize {
        self.lines.len()
    }

    /// The lines that hold a word.
    pub fn lines_with(&self, word: &str) -> &[u32] {
        self.lines.get(&word.to_lowercase()).map_or(&[], |lines| lines.as_slice())
    }

    /// The lines that hold all of these words; none if no word is asked for.
    pub fn lines_with_all(&self, words: &[&str]) -> Vec<u32> {
        let mut found: Vec<&[u32]> = words.iter().map(|word| self.lines_with(word)).collect();
        found.sort_by_key(|lines| lines.len());
        let (rarest, others) = match found.split_first() {
            Some(split) => split,
            None => return Vec::new(),
        };
        rarest.iter().filter(|line| others.iter().all(|lines| lines.binary_search(line).is_ok())).copied().collect()
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "The harbour of Bergen\nbergen, the rain\n\nRain: ØRSTED's harbour";

    #[test]
    fn finds_lines_whatever_the_capitals() {
        let index = Index::of(TEXT);
        assert_eq!(index.lines_with("bergen"), [0, 1]);
        assert_eq!(index.lines_with("RAIN"), [1, 3]);
        assert_eq!(index.lines_with("ørsted"), [3]);
        assert!(index.lines_with("snow").is_empty());
    }

    #[test]
    fn counts_different_words() {
        assert_eq!(Index::of(TEXT).words(), 7);
        assert_eq!(Index::of("").words(), 0);
    }

    #[test]
    fn a_word_twice_in_a_line_is_one_line() {
        assert_eq!(Index::of("so so\nso").lines_with("so"), [0, 1]);
    }

    #[test]
    fn finds_lines_with_all_words() {
        let index = Index::of(TEXT);
        assert_eq!(index.lines_with_all(&["harbour", "bergen"]), [0]);
        assert_eq!(index.lines_with_all(&["rain"]), [1, 3]);
        assert!(index.lines_with_all(&["rain", "snow"]).is_empty());
        assert!(index.lines_with_all(&[]).is_empty());
    }
}
