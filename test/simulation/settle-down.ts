import type { Address } from "../../src/model/address.ts";
import type { StepOutcome } from "../../src/model/outcome.ts";
import type { Case, RunCase } from "./case.ts";
import { checkEnd } from "./final.ts";
import type { Oracle } from "./oracle.ts";
import { person } from "./others.ts";
import { allowedAgain, decideCreates } from "./person.ts";
import type { Ended } from "./program.ts";
import { isThere, type Thing } from "./thing.ts";
import type { World } from "./world.ts";

/** One run that was played. */
export interface Played {
  /** Undefined where the process was killed. */
  readonly ended: Ended | undefined;
  readonly events: number;
  /** Nothing was in the middle of anything as it began. */
  readonly isQuiet: boolean;
}

/** Plays one run. */
export type Play = (run: RunCase) => Promise<Played>;

/** Runs that a calm world may take until nothing is left to do. */
const patience = 8;

/** Without faults, and with people who do their part, everything must come to rest as declared. */
export async function settleDown(
  last: RunCase,
  { isUndisturbed, isOnlyKilled }: { readonly isUndisturbed: boolean; readonly isOnlyKilled: boolean },
  play: Play,
  world: World,
  watch: Oracle,
): Promise<void> {
  const {
    faults: _f,
    others: _o,
    crash: _c,
    stop: _s,
    abort: _a,
    pause: _p,
    rival: _r,
    away: _away,
    replace: _again,
    targets: _targets,
    exclude: _exclude,
    plan: _plan,
    elsewhere: _elsewhere,
    blind: _blind,
    ...calm
  } = last;
  let said = "";
  let allowed: readonly Address[] = last.allowDestroy ?? [];
  for (let at = 0; at < patience; at++) {
    world.registry.calm();
    person(world);
    // A person names no address that was let go of.
    const known = new Set([
      ...Object.keys({ ...world.stored?.resources, ...world.stored?.intents }),
      ...calm.resources.map(({ address }) => address),
    ]);
    const allowDestroy = allowed.filter((address) => known.has(address));
    const { ended, isQuiet } = await play({ ...calm, allowDestroy, later: 1000 + at * 20_000 });
    if (watch.violation !== undefined || ended === undefined) return;
    allowed = [...new Set([...allowed, ...allowedAgain(ended, world, watch)])];
    if (at > 0 && isInDoubt(ended, at) && (await decideCreates(calm, world, watch))) continue;
    const open = (ended.second?.steps ?? []).filter((step) => step.blocked.length === 0);
    said = summary(ended);
    // What somebody else did just before may show only after the first plan of this run.
    const isAlone = isQuiet && (at > 0 || isUndisturbed);
    const isDone = isAlone && ended.steps.every((step) => step.result === "done");
    if (isDone && ended.certificate.length > 0)
      watch.violate("certificate", `${JSON.stringify(ended.certificate)} | ${said}`);
    if (isHelpless(ended, calm, world)) return;
    if (at === 0 && isOnlyKilled && !isEnough(ended)) watch.violate("one more run", said);
    // Nothing is certain before every lag has passed.
    if (at === 0) continue;
    // A request that was on its way when its sender died may still work.
    if (!isAtRest(world)) continue;
    if (
      ended.second !== undefined &&
      open.length === 0 &&
      ended.steps.every((step) => !["failed", "stale"].includes(step.result))
    ) {
      checkEnd(calm, ended.second, world, watch);
      return;
    }
  }
  watch.violate("no convergence", said);
}

/** True if a create is in doubt, or stays open for long. */
function isInDoubt({ second }: Ended, at: number): boolean {
  const blocked = second?.changes.flatMap((change) => change.blocked) ?? [];
  return at > 1 || blocked.some(({ code }) => code === "create-in-doubt");
}

/**
 * True where nothing befell the runs but that the process was killed. Tokens that die under way, and lists that come and
 * go, are trouble, too; and a replacement that a person asked for is not asked for again.
 */
export function isOnlyKilled({ runs, service }: Case): boolean {
  const isTroubled = service.flicker || (service.wire?.tokenLife ?? Number.POSITIVE_INFINITY) < 60_000;
  const isCalm = ({
    faults = [],
    others,
    stop,
    abort,
    pause,
    rival,
    away,
    plan: kept,
    replace,
    targets,
    exclude,
    blind,
  }: RunCase): boolean =>
    faults.length === 0 &&
    [others, stop, abort, pause, rival, away, kept, replace, targets, exclude, blind].every(
      (trouble) => trouble === undefined,
    );
  return !isTroubled && runs.every(isCalm);
}

/**
 * True where one run has done everything that it may do: nothing is left but what is blocked, what takes a person or more
 * time than was given, and what comes after that. A deletion that was never recorded, of what is wanted again, shows only
 * as it ends.
 */
function isEnough({ is, steps, second }: Ended): boolean {
  const isLate = (result: string): boolean =>
    ["blocked", "converging", "waiting-for-person"].includes(result);
  const hasLate = steps.some(({ result }) => isLate(result));
  const isExcused = ({ operation, result }: StepOutcome): boolean =>
    isLate(result) || (hasLate && result === "skipped") || (operation === "wait" && result === "stale");
  const late = new Set(steps.filter(isExcused).map(({ address }) => address));
  const left = (second?.steps ?? []).filter(
    ({ address, blocked }) => blocked.length === 0 && !late.has(address),
  );
  const isDone = steps.every((step) => step.result === "done" || isExcused(step));
  return is === "done" && isDone && left.length === 0;
}

/**
 * What only a person can help: an object asked for by its id that is gone, a network that is lived in, a user of the same
 * name, or a look-alike, that was let go of; a backup of what does not
 * run.
 */
function isHelpless(ended: Ended, run: RunCase, { registry, stored }: World): boolean {
  if (ended.code === "import-not-found")
    return registry.things.some((thing) => thing.id.includes("before") && !isThere(thing));
  // A deletion in two phases that could not be recorded, and that nobody wants any more: nobody asks for its end.
  if (
    registry.things.some((thing) => isThere(thing) && thing.awaits === "last delete" && run.does === "apply")
  )
    return ended.steps.some((step) => step.result === "waiting-for-person");
  const failed = ended.steps.filter((step) => step.result === "failed");
  const isUsed = (id: string): boolean =>
    registry.things.some((thing) => isThere(thing) && thing.look.top["custom_network_id"] === id);
  const isLeftBehind = (address: string): boolean => {
    const username = run.resources.find((entry) => entry.address === address)?.spec["username"];
    return registry.things.some(
      (thing) => isThere(thing) && !thing.ours && thing.look.top["username"] === username,
    );
  };
  return (
    failed.length > 0 &&
    failed.every(({ kind, operation, address }) => {
      // Nothing is made in an account that has failed; another account is a person's decision.
      if (operation === "create" && registry.things.some(hasFailed)) return true;
      const id = stored?.resources[address]?.id ?? "";
      // No backup is made of what does not run.
      if (kind === "instances")
        return operation === "backup" && ["STOPPED", "FAILED"].includes(registry.at(id)?.look.status ?? "");
      return kind === "networks"
        ? operation === "delete" && isUsed(id)
        : operation === "create" && isLeftBehind(address);
    })
  );
}

/** True while nothing is in the middle of anything. */
export function isAtRest({ registry }: World): boolean {
  registry.advance();
  return registry.things.every((thing) => {
    const showsOld = thing.old !== undefined && registry.now() < thing.old.until;
    return !isThere(thing) || (thing.work === undefined && !showsOld);
  });
}

/** How a run ended, in one line for people. */
export function summary(ended: Ended | undefined): string {
  if (ended === undefined) return "killed";
  const steps = ended.steps.map(
    ({ key, result, message }) => `${key} ${result}${message === undefined ? "" : ` (${message})`}`,
  );
  const left = (ended.second?.steps ?? []).map(
    ({ key, blocked }) => `${key}${blocked[0] === undefined ? "" : ` (${blocked[0].code})`}`,
  );
  return `${ended.is} ${ended.code ?? ""}: ${steps.join(", ")}; then ${left.join(", ")}`;
}

function hasFailed(thing: Thing): boolean {
  return isThere(thing) && thing.kind === "cloudAccounts" && thing.look.status === "FAILED";
}
