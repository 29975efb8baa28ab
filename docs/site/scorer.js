// How search ranks: scripts/site.py writes the two tables of nav.toml here, by the names of documents.
const ASKED = {};
const LAST = [];

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([name, , , , score]) => {
    const query = new URLSearchParams(window.location.search).get("q") || "";
    const words = query.toLowerCase().split(/[^a-z0-9_-]+/).filter(Boolean);
    const asked = (ASKED[name] || "").split(" ");
    const share = words.filter((word) => asked.includes(word)).length / Math.max(words.length, 1);
    return score + 100 * share - (LAST.includes(name) ? 50 : 0);
  },
};
