import { type Chance, chance } from "../support/chance.ts";
import type { Case, Fault, ResourceCase, RunCase } from "./case.ts";
import { replaced } from "./generate-manifest.ts";

/**
 * Some cases are about one database and its guards alone: it is made, changed in a way that may be held back while its
 * guards change, and then left out once or twice, with backups by others and kills on the way.
 */
export function guarded(seed: number, given: Case): Case {
  const dice = chance(seed ^ 0x3c6ef372);
  const [first, last] = [given.runs[0], given.runs.at(-1)];
  const found = first?.resources.find(
    ({ address, importId, spec }) =>
      address.startsWith("instances.") &&
      importId === undefined &&
      ["startup", "free"].includes(String(spec["tier"])) &&
      !JSON.stringify(spec).includes("$ref"),
  );
  if (found === undefined || last === undefined || !dice.is(0.09)) return given;
  const { protect: _, onReplace: _keep, onDelete: _free, ...plain } = found;
  const tag = found.tag + 500;
  const spec = JSON.parse(JSON.stringify(plain.spec).replaceAll(`s3cret-${found.tag}-`, `s3cret-${tag}-`));
  const kept: ResourceCase = { ...plain, address: "instances.kept", tag, spec };
  const before: ResourceCase = { ...plain, ...protection(dice), ...onDelete(dice) };
  const changed = replaced(before, dice, found.tag + 1);
  const { protect: _before, ...lifted } = changed;
  const after: ResourceCase = dice.is(0.5) ? { ...changed, ...protection(dice), ...onDelete(dice) } : lifted;
  const asked = dice.is(0.4) ? { ...after, onReplace: "recreate" as const } : after;
  const runs: readonly (readonly ResourceCase[])[] = [
    [kept, before],
    [kept, asked],
    [kept],
    ...(dice.is(0.5) ? [[kept]] : []),
  ];
  if (dice.is(0.25)) {
    const resources = [kept];
    const plan = (use: "save" | "use"): RunCase => ({ does: "apply", plan: use, resources });
    const [first, second] = [{ ...plain }, { ...plain, ...protection(dice), ...onDelete(dice) }];
    const between = { ...runOf([kept, second], 0, dice), later: 1000 };
    return { ...given, runs: [runOf([kept, first], 0, dice), plan("save"), between, plan("use")] };
  }
  const slow = Math.max(given.service.listLag, 20_000);
  const service = { ...given.service, listLag: dice.is(0.5) ? slow : given.service.listLag };
  return { ...given, service, runs: runs.map((resources, at) => runOf(resources, at, dice)) };
}

function runOf(resources: readonly ResourceCase[], at: number, dice: Chance): RunCase {
  const run: RunCase = { does: "apply", resources };
  if (at === 0) return run;
  const early = { at: 0, does: "backup" as const, pick: dice.between(0, 1) };
  return {
    ...run,
    later: Math.round(dice.scale(1, 100_000)),
    ...(dice.is(0.5) ? { others: [early] } : {}),
    ...(dice.is(0.4) ? { crash: Math.round(dice.scale(4, 60)) } : {}),
    ...(dice.is(0.6) ? { faults: [dice.is(0.3) ? refusedDelete : failedBackup(dice)] } : {}),
  };
}

const refusedDelete: Fault = { on: "delete", nth: 1, effect: "forbidden" };

function failedBackup(dice: Chance): Fault {
  return { on: "verb", nth: dice.between(1, 2), effect: dice.is(0.7) ? "fails" : "sticks" };
}

function protection(dice: Chance): Pick<ResourceCase, "protect"> {
  return dice.is(0.8) ? { protect: dice.is(0.4) } : {};
}

function onDelete(dice: Chance): Pick<ResourceCase, "onDelete"> {
  return dice.is(0.6) ? { onDelete: "backup" } : {};
}
