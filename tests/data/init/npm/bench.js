if (require("ms")("1s") !== 1000) throw new Error("wrong");
