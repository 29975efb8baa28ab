/** Makes orders up, the same ones always. */
export function orders(count) {
  const draw = numbers(1);
  const lines = ["order,customer,country,product,amount,note"];
  for (let order = 0; order < count; order++) {
    const note = draw(4) === 0 ? '"gift, please ""wrap"" it"' : "";
    const amount = (draw(100000) / 100).toFixed(2);
    lines.push(`${order},c${draw(500)},country ${draw(60)},p${draw(200)},${amount},${note}`);
  }
  return `${lines.join("\n")}\n`;
}

/** A linear congruential generator. */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
