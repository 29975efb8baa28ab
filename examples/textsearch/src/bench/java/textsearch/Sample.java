package textsearch;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A made-up text and queries, the same ones always: few words are frequent, and most are rare. */
public final class Sample {
    private static final String[] SYLLABLES = {
        "an", "ber", "cor", "del", "el", "fir", "gan", "hol", "in", "jor", "kel", "lu", "mar", "nor", "ost", "per"
    };

    private final Random random = new Random(1);

    /** Lines of 6 to 17 words. */
    public List<String> lines(int count) {
        List<String> lines = new ArrayList<>(count);
        for (int line = 0; line < count; line++) {
            lines.add(words(6 + random.nextInt(12)) + ".");
        }
        return lines;
    }

    /** Queries of three words. */
    public List<String> queries(int count) {
        List<String> queries = new ArrayList<>(count);
        for (int query = 0; query < count; query++) {
            queries.add(words(3));
        }
        return queries;
    }

    private String words(int count) {
        StringBuilder words = new StringBuilder();
        for (int word = 0; word < count; word++) {
            words.append(word == 0 ? "" : " ").append(word());
        }
        return words.toString();
    }

    private String word() {
        // 4096 words; the frequency of a word falls with its number
        double drawn = random.nextDouble();
        int number = (int) (4096 * drawn * drawn * drawn);
        StringBuilder word = new StringBuilder();
        do {
            word.append(SYLLABLES[number % SYLLABLES.length]);
            number /= SYLLABLES.length;
        } while (number > 0);
        return word.toString();
    }
}
