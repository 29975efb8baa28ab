export { cells } from "./cells.mjs";
export { groups } from "./groups.mjs";
export { rows } from "./rows.mjs";
