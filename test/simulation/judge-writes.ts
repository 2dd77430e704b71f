import type { Address } from "../../src/model/address.ts";
import { isObject } from "../../src/model/json.ts";
import type { Operation, Step } from "../../src/model/plan.ts";
import type { Call } from "../../src/model/service.ts";
import { addressOf, protectsByDefault } from "./belonging.ts";
import type { Proc } from "./proc.ts";
import { isLeaving, isThere, type Thing } from "./thing.ts";
import type { World } from "./world.ts";

/** What a step does to an object that is there. */
const writing: ReadonlySet<Operation> = new Set(["update", "delete", "operate"]);

/** Judges a write before it works: what no process may ask of this object, whatever has happened before. */
export function judgeWrites(
  world: World,
  violate: (promise: string, detail: string) => void,
): (process: Proc, thing: Thing, call: Call) => void {
  const deleted = new Map<Proc, Set<Thing>>();

  /** The address that the process means: two may be bound to one object, and only one has a step for it. */
  const declaredAddress = (thing: Thing, process: Proc): Address => {
    const bound = Object.entries(world.stored?.resources ?? {}).filter(([, entry]) => entry.id === thing.id);
    const moved = bound.map(([address]) => destination(address, process));
    const declared = moved.filter((address) => process.resource(address) !== undefined);
    const planned = declared.find((address) =>
      process.plan?.steps.some(
        (step) => step.address === address && step.id === thing.id && writing.has(step.operation),
      ),
    );
    return planned ?? declared[0] ?? moved[0] ?? destination(addressOf(thing, world.stored), process);
  };

  const writes = (process: Proc, thing: Thing, call: Call): void => {
    const address = declaredAddress(thing, process);
    const what = `${process.name}: ${call.operation} of ${thing.id} (${address})`;
    if (!thing.ours) return violate("foreign", `${what}: it is not ours`);
    const operation = call.operation.split(".")[1] ?? "";
    const declared = process.run.does === "destroy" ? undefined : process.resource(address);
    const rule = world.stored?.resources[addressOf(thing, world.stored)]?.onDelete;
    // One that is stopped is started for the backup before its deletion.
    const isForBackup = operation === "start" && declared === undefined && rule === "backup";
    if (operation === "delete" || operation === "backup" || isForBackup)
      return deletes(process, thing, address, call, what);
    if (declared === undefined) return violate("undeclared", `${what}: nothing declares it`);
    if (operation === "stop" && declared.spec["power"] !== "stopped")
      return violate("stopped", `${what}: it is to run`);
    if (operation === "update") overwrites(process, thing, address, call, what);
  };

  const deletes = (process: Proc, thing: Thing, address: Address, call: Call, what: string): void => {
    if (isLeaving(thing)) return;
    const { run } = process;
    const isAllowed = run.allowDestroy?.includes(address) === true;
    const declared = run.does === "destroy" ? undefined : process.resource(address);
    const remembered = [...thing.protects];
    const isLifted = run.does === "destroy" && process.resource(address)?.protect === false;
    const isProtected =
      declared?.protect === undefined
        ? !isLifted && (!remembered.includes(false) || (declared !== undefined && protectsByDefault(thing)))
        : declared.protect;
    if (isProtected && !isAllowed) violate("protected", `${what}: it is protected`);
    if (declared === undefined && run.does === "apply" && run.resources.length === 0)
      violate("empty manifest", what);
    const rules = [declared?.onDelete, world.stored?.resources[addressOf(thing, world.stored)]?.onDelete];
    const isRefused =
      declared !== undefined &&
      (declared.onReplace !== "recreate" || rules.includes("retain")) &&
      thing.kind === "instances";
    if (isRefused && run.replace?.includes(address) !== true) violate("replacement refused", what);
    if (declared === undefined && run.released?.includes(address) === true) violate("released", what);
    if (!call.operation.endsWith(".delete")) return;
    if (rules.includes("backup") && thing.kind === "instances" && !isBackedUp(thing, process))
      violate("no backup", what);
    const together = (deleted.get(process) ?? new Set()).add(thing);
    deleted.set(process, together);
    if (run.does === "apply" && together.size > (run.maxDeletes ?? Number.POSITIVE_INFINITY))
      violate("threshold", `${what}: it is the ${together.size}th, and ${run.maxDeletes} are allowed`);
    const tenant = world.registry.things.find((other) => isTenant(other, thing) && isToGo(other, process));
    if (tenant !== undefined) violate("order", `${what}: ${tenant.id} is to go first`);
    const missing = missingFor(address, process);
    if (missing !== undefined)
      violate("deleted too early", `${what}: the new one needs ${missing}, which is not there yet`);
  };

  /** A snapshot that was asked for in this run is complete by now. Whole seconds of the service, with one of tolerance, tell it from older ones. */
  const isBackedUp = ({ id }: Thing, { begunAt }: Proc): boolean =>
    world.registry.snapshots.some(
      (snapshot) =>
        snapshot.instanceId === id &&
        snapshot.bornAt > begunAt - 2000 &&
        snapshot.ends === "COMPLETE" &&
        world.schedule.now() >= snapshot.until,
    );

  /** What a replacement refers to and is still to be made, and does not itself wait for this deletion. */
  const missingFor = (address: Address, { plan }: Proc): Address | undefined => {
    const steps = plan?.steps ?? [];
    const [removal, making] = (["delete", "create"] as const).map((operation) =>
      steps.find((step) => step.address === address && step.operation === operation),
    );
    if (removal === undefined || making === undefined) return undefined;
    return making.refs?.find((ref) => {
      const home = steps.find((step) => step.address === ref && step.operation === "create");
      if (home === undefined || waitsFor(home, removal.key, steps)) return false;
      const old = steps.find((step) => step.address === ref && step.operation === "delete")?.id;
      const bound = world.stored?.resources[ref]?.id;
      return bound === undefined || bound === old;
    });
  };

  const isToGo = ({ id }: Thing, { plan }: Proc): boolean =>
    plan?.steps.some((step) => step.id === id && step.operation === "delete" && step.blocked.length === 0) ===
    true;

  /** Values that its decision was based on must still have been there when it looked last. */
  const overwrites = (process: Proc, thing: Thing, address: Address, call: Call, what: string): void => {
    const step = process.plan?.steps.find((each) => each.address === address && each.operation === "update");
    // What may be another create's object is brought to its own spec by the run that found it.
    const makes = process.plan?.steps.some((each) => each.address === address && each.operation === "create");
    if (step === undefined && makes === true) return;
    if (step === undefined) return violate("not in the plan", what);
    if (step.after.some((key) => key.split("#")[0] === address)) return;
    const seen = process.seen.get(thing);
    if (seen?.planned === undefined) return;
    const params = isObject(call.body?.["requestParams"]) ? call.body["requestParams"] : {};
    for (const [name, value] of Object.entries({ ...call.body, ...params })) {
      const isShown =
        name in seen.planned.top || (world.registry.options.echo && name in seen.planned.params);
      if (!isShown || name === "password" || name === "graphdbPassword") continue;
      const [planned, last] = [seen.planned, seen.last].map(
        (look) => ({ ...look.params, ...look.top })[name],
      );
      // What is there already may be of an earlier request of its own.
      if (planned !== last && last !== value)
        violate("stale", `${what}: ${name} was ${String(planned)}, and ${String(last)} at the last look`);
    }
  };

  return writes;
}

function waitsFor(step: Step, key: string, steps: readonly Step[]): boolean {
  return step.after.some((before) => {
    const earlier = steps.find((each) => each.key === before);
    return before === key || (earlier !== undefined && waitsFor(earlier, key, steps));
  });
}

/** True where the one lives in the other, a network. */
function isTenant(thing: Thing, home: Thing): boolean {
  return thing.ours && isThere(thing) && !isLeaving(thing) && thing.look.top["custom_network_id"] === home.id;
}

function destination(address: Address, { run }: Proc): Address {
  let at = address;
  for (const [from, to] of run.moved ?? []) if (at === from) at = to;
  return at;
}
