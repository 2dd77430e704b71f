/** @module Reads the iterations of a `forEach`. */
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Sealed, Template } from "../model/sealed.ts";
import { isTemplate } from "../model/sealed.ts";
import { describe } from "./problems/describe.ts";
import type { Fault } from "./problems/finding.ts";
import type { Iteration } from "./scope.ts";
import type { Path } from "./source.ts";

/** A list of texts or a map gives one iteration for each entry. Returns undefined where a fault was reported. */
export function iterationsOf(
  forEach: Json | Sealed | Template,
  report: (path: Path, fault: Fault) => void,
): readonly Iteration[] | undefined {
  if (isTemplate(forEach)) return undefined;
  if (Array.isArray(forEach)) return listIterations(forEach, report);
  if (isObject(forEach)) return Object.entries(forEach).map(([key, value]) => ({ key, value }));
  const hint = "write a list, [a, b], or a map, { a: ..., b: ... }";
  report(["forEach"], {
    code: "wrong-type",
    message: `forEach must be a list or a map, and is ${describe(forEach)}`,
    hint,
  });
  return undefined;
}

function listIterations(
  list: readonly Json[],
  report: (path: Path, fault: Fault) => void,
): readonly Iteration[] | undefined {
  const iterations: Iteration[] = [];
  const seen = new Set<string>();
  let failed = false;
  for (const [index, value] of list.entries()) {
    const key = typeof value === "string" || typeof value === "number" ? String(value) : undefined;
    if (isTemplate(value)) failed = true;
    else if (key === undefined) {
      const hint = "a list holds texts; to give each one more than a key, write a map";
      report(["forEach", index], {
        code: "wrong-type",
        message: `forEach[${index}] must be text, and is ${describe(value)}`,
        hint,
      });
      failed = true;
    } else if (seen.has(key)) {
      const hint = "remove one of the two: each makes one resource";
      report(["forEach", index], {
        code: "duplicate-key",
        message: `forEach names ${JSON.stringify(key)} twice`,
        hint,
      });
    } else {
      seen.add(key);
      iterations.push({ key, value });
    }
  }
  return failed ? undefined : iterations;
}
