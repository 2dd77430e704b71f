/** @module Makes problems: faults with a message and a hint at their place in a manifest, and values and paths in the words of messages. */
import { closestMatch } from "leven";
import type { Address } from "../../model/address.ts";
import type { SourceRange } from "../../model/errors.ts";
import { defined, isObject, type Json } from "../../model/json.ts";
import type { Finding } from "../../model/kind.ts";
import type { ValueRefusal } from "../../model/stores/store-description.ts";
import { withoutUserinfo } from "../../model/userinfo.ts";
import { type BlockName, type Part, rangeAt } from "../locate.ts";
import type { Layer, Path } from "../source.ts";

/** A mistake and the way out, without its place. */
export type Fault = ValueRefusal;

export function errorAt(range: SourceRange, fault: Fault, address?: Address): Finding {
  return { severity: "error", ...fault, range, ...defined({ address }) };
}

/** Reports faults at paths: of the manifest, or of the block of one resource. */
export interface Report {
  /** With an expression, the place is that of the expression. */
  error(path: Path, fault: Fault, part?: Part, expression?: { readonly text: string }): void;
  /** The run goes on. */
  warning(path: Path, fault: Fault): void;
  where(path: Path, part: Part): SourceRange;
}

export function reportTo(
  findings: Finding[],
  layers: readonly Layer[],
  block?: BlockName,
  address?: Address,
): Report {
  return {
    error: (path, fault, part, expression) => {
      const range = rangeAt(layers, path, part ?? "value", expression, block);
      findings.push(errorAt(range, fault, address));
    },
    warning: (path, fault) => {
      const range = rangeAt(layers, path, "value", undefined, block);
      findings.push({ ...errorAt(range, fault, address), severity: "warning" });
    },
    where: (path, part) => rangeAt(layers, path, part, undefined, block),
  };
}

const maxShown = 60;

/** A value in words: `"text"` in quotes, shortened and without credentials, `a list`, `a map`, `empty`. */
export function describe(value: Json): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "a map";
  if (typeof value !== "string") return String(value);
  const shown = withoutUserinfo(value);
  return JSON.stringify(shown.length > maxShown ? `${shown.slice(0, maxShown)}…` : shown);
}

/** A path in dotted form: `config.name`, `imports[0].id`. */
export function dotted(path: Path): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return text.replace(/^\./, "");
}

/** Longer words are not typed by hand, and comparing them costs the product of their lengths. */
const maxWord = 64;
const maxCompared = 1000;
const maxListed = 24;

/** The candidate with the fewest typing mistakes; undefined if all have too many for the length of the word. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word === "" || word.length > maxWord) return undefined;
  const wanted = word.toLowerCase();
  const spelt = new Map(candidates.slice(0, maxCompared).map((known) => [known.toLowerCase(), known]));
  const words = [...spelt.keys()];
  const letters = lettersOf(wanted);
  // The distance counts swapped letters as two mistakes.
  const swapped = words.find((known) => known.length === wanted.length && lettersOf(known) === letters);
  const maxDistance = Math.max(1, Math.floor(word.length / 3));
  return spelt.get(wanted) ?? spelt.get(swapped ?? closestMatch(wanted, words, { maxDistance }) ?? "");
}

function lettersOf(word: string): string {
  return [...word].sort().join("");
}

/** A hint for a wrong word: the nearest right one, then the list of all. */
export function suggest(word: string, candidates: readonly string[], what = "allowed"): string {
  const near = nearest(word, candidates);
  const list = listed(candidates, what);
  return near === undefined ? list : `did you mean "${near}"? ${list}`;
}

/** `allowed: a, b, c`, cut after a dozen. */
export function listed(candidates: readonly string[], what = "allowed"): string {
  if (candidates.length === 0) return `${what}: none`;
  const shown = candidates.slice(0, maxListed);
  const rest = candidates.length - shown.length;
  return `${what}: ${shown.join(", ")}${rest === 0 ? "" : `, and ${rest} more`}`;
}
