package textsearch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** An inverted index: the lines of each word. */
public final class Index {
    private static final Postings NONE = new Postings();

    private final List<String> lines = new ArrayList<>();
    private final Map<String, Postings> words = new HashMap<>();

    /** Adds a line at the end of the text. */
    public void add(String line) {
        int number = lines.size();
        lines.add(line);
        for (String word : Words.of(line)) {
            words.computeIfAbsent(word, ignored -> new Postings()).add(number);
        }
    }

    /** How many words the text has, each counted once. */
    public int size() {
        return words.size();
    }

    /** The lines that hold all words of a query, in order; none for a query without words. */
    public List<String> search(String query) {
        List<Postings> wanted = new ArrayList<>();
        for (String word : Words.of(query)) {
            wanted.add(words.getOrDefault(word, NONE));
        }
        Postings found = wanted.isEmpty() ? NONE : wanted.get(0);
        for (Postings next : wanted.subList(Math.min(1, wanted.size()), wanted.size())) {
            found = found.and(next);
        }
        List<String> result = new ArrayList<>(found.size());
        for (int index = 0; index < found.size(); index++) {
            result.add(lines.get(found.get(index)));
        }
        return result;
    }
}
