package textsearch;

import java.util.Arrays;

/** The numbers of the lines that hold a word: each once, in ascending order. */
final class Postings {
    private int[] lines = new int[4];
    private int size;

    /** Adds a line, which is the last one so far. */
    void add(int line) {
        if (size > 0 && lines[size - 1] == line) {
            return;
        }
        if (size == lines.length) {
            lines = Arrays.copyOf(lines, 2 * size);
        }
        lines[size++] = line;
    }

    int size() {
        return size;
    }

    int get(int index) {
        return lines[index];
    }

    /** The lines that both hold. */
    Postings and(Postings other) {
        Postings both = new Postings();
        int mine = 0;
        int theirs = 0;
        while (mine < size() && theirs < other.size()) {
            int difference = get(mine) - other.get(theirs);
            if (difference == 0) {
                both.add(get(mine));
            }
            if (difference <= 0) {
                mine++;
            }
            if (difference >= 0) {
                theirs++;
            }
        }
        return both;
    }
}
