import fc from "fast-check";

/** Characters that patterns speak of, beside those that stand in one. */
const usual = [..."a1Z \n\t\"'`:;=,.-_/\\@#$%&*+<>(){}[]|~!?^x"];

const classes: { readonly [letter: string]: string } = { d: "5", w: "w", s: " ", b: "b" };

/** Characters of a pattern that tell its parts apart: its literals, and one of each class. */
function lettersOf(source: string): readonly string[] {
  const letters = new Set<string>();
  const plain = source
    .replace(/\\[pP]\{[^}]*\}/g, "")
    .replace(/\\u\{?[0-9a-fA-F]+\}?|\\x[0-9a-fA-F]{2}/g, "")
    .replace(/\{[0-9]+(?:,[0-9]*)?\}/g, "")
    .replace(/\(\?(?:[:=!]|<[=!])/g, "(");
  for (let at = 0; at < plain.length; at += 1) {
    const letter = plain[at] ?? "";
    if (letter === "\\") {
      at += 1;
      const escaped = plain[at] ?? "";
      letters.add(classes[escaped.toLowerCase()] ?? { n: "\n", t: "\t", r: "\r" }[escaped] ?? escaped);
    } else if (!"^$.*+?()[]|".includes(letter)) letters.add(letter);
  }
  return [...letters].slice(0, 14);
}

/** Beginnings of texts that a pattern matches: where each of its parts has been reached. */
function headsOf(source: string): readonly string[] {
  try {
    const texts = fc.sample(fc.stringMatching(new RegExp(source.replace(/\(\?<?[!][^)]*\)/g, ""))), {
      numRuns: 12,
      seed: 1,
    });
    const short = texts.toSorted((left, right) => left.length - right.length).slice(0, 4);
    return [
      ...new Set(short.flatMap((text) => [...text].map((_, at) => text.slice(0, at + 1)).slice(0, 24))),
    ];
  } catch {
    // It speaks of what cannot be made up: the usual letters have to do.
    return [];
  }
}

/** A text of a certain shape, of about this many characters. */
export type Shape = (length: number) => string;

/**
 * Shapes of texts that make a pattern work as hard as it can: one part of it over and over, or two in turn, behind what
 * leads there and before what it does not take.
 */
export function* hostileShapes(source: string): Iterable<Shape> {
  const letters = lettersOf(source);
  const heads = headsOf(source);
  const pairs = letters.flatMap((one) =>
    letters.filter((other) => other !== one).map((other) => one + other),
  );
  for (const pump of new Set([...letters, ...usual, ...heads, ...pairs])) {
    // What is looked for from each repetition needs many of them, however long it is.
    const pumped: Shape = (length) => pump.repeat(Math.ceil(length / Math.min(pump.length, 4)));
    yield pumped;
    yield (length) => `${pumped(length)}\u0001`;
    yield (length) => `${pumped(length)} \n`;
    if (pump.length === 1) for (const head of heads) yield (length) => `${head}${pumped(length)}\n\u0001`;
  }
}
