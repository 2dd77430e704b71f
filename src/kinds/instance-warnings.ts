import type { Desired } from "../model/desired.ts";
import type { RuleContext } from "../model/kind.ts";
import { valueAt } from "../model/spec-paths.ts";
import { configRows, isOffered, type Rule, text, tierOf } from "./instance-spec.ts";
import type { Said } from "./rule-tools.ts";

/** What is allowed and probably not meant. */
export const warningRule: Rule = (desired, context) => {
  const said: Said[] = [];
  const warn = (code: string, path: string, message: string, hint: string): void => {
    said.push({ code, path, message, hint, severity: "warning" });
  };
  const resultSet = "config.graphDBResultSetSize";
  if (valueAt(desired.spec, resultSet) === 0) {
    const message = `${resultSet} is 0: the specification calls that unlimited, and the engine returns no rows at all`;
    warn("no-rows", resultSet, message, "write the largest number of rows that is wanted, at most 1000000");
  }
  const left = leftToDefaults(desired);
  const alike = left === "" ? [] : (byLeft(context).get(left) ?? []);
  // One warning for all that leave the same: a manifest of 1000 would have 1000 of them.
  if (alike[0] === desired.address) {
    const others = alike.length === 1 ? "" : ` (here and in ${alike.length - 1} more)`;
    const message = `left to the service's defaults, and fixed once it is created${others}: ${left}`;
    warn(
      "create-only-default",
      "config",
      message,
      "write down those that matter; changing one later takes a new instance",
    );
  }
  if (tierOf(desired) === "free" && desired.lifecycle.protect === true) {
    const message = "a free instance is protected, but the service deletes it by itself once nobody uses it";
    warn("protected-free", "tier", message, "take a paid tier for data that must stay, or leave protect out");
  }
  return said;
};

/** What an instance leaves to its defaults -> the addresses that leave just that; made once for a manifest. */
function byLeft({ all }: RuleContext): ReadonlyMap<string, readonly string[]> {
  const known = leftOf.get(all);
  if (known !== undefined) return known;
  const found = new Map<string, string[]>();
  for (const desired of all) {
    if (desired.kind !== "instances") continue;
    const left = leftToDefaults(desired);
    const alike = found.get(left);
    if (alike === undefined) found.set(left, [desired.address]);
    else alike.push(desired.address);
  }
  leftOf.set(all, found);
  return found;
}

const leftOf = new WeakMap<readonly Desired[], ReadonlyMap<string, readonly string[]>>();

function leftToDefaults(desired: Desired): string {
  const component = text(desired, "component") ?? "";
  if (tierOf(desired) === undefined) return "";
  const names = configRows.flatMap(([name, row]) => {
    const fixed = row["x-create-only"] === true && row.default !== undefined;
    const offered =
      isOffered(desired, `config.${name}`) && row["x-components"]?.includes(component) !== false;
    return fixed && offered && valueAt(desired.spec, `config.${name}`) === undefined ? [name] : [];
  });
  return names.join(", ");
}
