/** @module Warns of instance settings that are allowed and probably not meant. */
import type { Desired } from "../model/desired.ts";
import type { RuleContext } from "../model/kind.ts";
import { configOf, configRows, type Rule, text, tierOf } from "./instance-spec.ts";
import type { Said } from "./rule-tools.ts";

/** Warns of settings that are allowed and probably not meant. */
export const warningRule: Rule = (desired, context) => {
  const said: Said[] = [];
  const warn = (code: string, path: string, message: string, hint: string): void => {
    said.push({ code, path, message, hint, severity: "warning" });
  };
  const resultSet = "config.graphDBResultSetSize";
  if (desired.spec[resultSet] === 0) {
    const message = `${resultSet} is 0: unlimited by the specification, but a service that hands 0 to the engine gets no rows at all`;
    warn("no-rows", resultSet, message, "write the largest number of rows that is wanted, at most 1000000");
  }
  const { names, alike } = leftIn(context).get(desired.address) ?? { names: "", alike: [] };
  // One warning for all that leave the same: a manifest of 1000 would have 1000 of them.
  if (names !== "" && alike[0] === desired.address) {
    const others = alike.length === 1 ? "" : `, nor in ${alike.length - 1} more`;
    const message = `not set here${others}; the service's defaults apply and cannot be changed later: ${names}`;
    warn(
      "create-only-default",
      "config",
      message,
      "write down each that matters with its value, the default too: then it is checked, and this warning names it no longer",
    );
  }
  if (tierOf(desired) === "free" && desired.lifecycle.protect === true) {
    const message = "a free instance is protected, but the service deletes it by itself once nobody uses it";
    warn("protected-free", "tier", message, "take a paid tier for data that must stay, or leave protect out");
  }
  if (tierOf(desired) === "free" && desired.lifecycle.onDelete === "backup") {
    const message = "the free tier has no backups: with onDelete: backup this instance cannot be deleted";
    warn("backup-free", "tier", message, "take a paid tier for data that must stay, or leave onDelete out");
  }
  return said;
};

/** The settings that one instance leaves to the service, and the addresses of all that leave just these. */
interface Left {
  readonly names: string;
  readonly alike: readonly string[];
}

/** The values that each instance leaves to the service, by address; made once for a manifest. */
function leftIn({ all, profile }: RuleContext): ReadonlyMap<string, Left> {
  const known = leftOf.get(all);
  if (known !== undefined) return known;
  const alikeBy = new Map<string, string[]>();
  const found = new Map<string, Left>();
  for (const desired of all) {
    if (desired.kind !== "instances") continue;
    const names = leftToDefaults(desired, profile.lacks);
    const alike = alikeBy.get(names) ?? [];
    alike.push(desired.address);
    alikeBy.set(names, alike);
    found.set(desired.address, { names, alike });
  }
  leftOf.set(all, found);
  return found;
}

const leftOf = new WeakMap<readonly Desired[], ReadonlyMap<string, Left>>();

const fixedRows = configRows.filter(([, row]) => row["x-create-only"] === true && row.default !== undefined);

function leftToDefaults(desired: Desired, lacks: readonly string[]): string {
  const [tier, component] = [tierOf(desired), text(desired, "component") ?? ""];
  if (tier === undefined) return "";
  const config = configOf(desired);
  const left = fixedRows.filter(
    ([name, row]) =>
      !Object.hasOwn(config, name) &&
      !lacks.includes(name) &&
      row["x-tiers"]?.includes(tier) !== false &&
      row["x-components"]?.includes(component) !== false,
  );
  return left.map(([name]) => name).join(", ");
}
