import type { Other } from "./case.ts";
import { isThere, type Thing } from "./thing.ts";
import type { World } from "./world.ts";

/** Somebody else does something; where it can't be done nothing happens. */
export function act({ does, pick }: Other, world: World): void {
  const { registry } = world;
  registry.advance();
  const choose = (wanted: (thing: Thing) => boolean): Thing | undefined => {
    const found = registry.things.filter((thing) => isThere(thing) && wanted(thing));
    return found[pick % Math.max(1, found.length)];
  };
  const bound = new Set(Object.values(world.stored?.resources ?? {}).map((entry) => entry.id));
  const isBound = (thing: Thing): boolean => bound.has(thing.id);
  const isIdle = (thing: Thing): boolean => thing.work === undefined && thing.awaits === undefined;
  const running = (thing: Thing): boolean =>
    thing.kind === "instances" && thing.look.status === "RUNNING" && isIdle(thing);
  const begin = (
    thing: Thing,
    ...work: Parameters<typeof registry.begin> extends [Thing, ...infer Rest] ? Rest : never
  ): void => {
    thing.worker = "others";
    registry.begin(thing, ...work);
  };
  const set = (
    thing: Thing | undefined,
    top: Thing["look"]["top"],
    params: Thing["look"]["params"],
  ): void => {
    if (thing === undefined) return;
    const { look } = thing;
    thing.touchedAt = registry.now();
    thing.look = {
      ...look,
      top: { ...look.top, ...top },
      params: { ...look.params, ...params },
      modifiedAt: registry.now(),
    };
  };
  switch (does) {
    case "stop": {
      const thing = choose(running);
      if (thing !== undefined) begin(thing, "stop", "STOPPING", undefined, { status: "STOPPED" });
      return;
    }
    case "start": {
      const thing = choose((each) => each.look.status === "STOPPED" && isIdle(each));
      if (thing !== undefined) begin(thing, "start", "STARTING", undefined, { status: "RUNNING" });
      return;
    }
    case "delete": {
      // What is bound by its id alone would be asked for by that id for ever.
      const thing = choose(
        (each) => each.ours && isIdle(each) && !each.id.includes("before") && each.kind !== "networks",
      );
      if (thing === undefined) return;
      thing.worker = "others";
      if (thing.kind === "users") thing.goneAt = registry.now();
      else registry.leave(thing, undefined);
      return;
    }
    case "rename": {
      // Only where the rename can be seen, and never so that a lost object could not be known again.
      const isSeen = (each: Thing): boolean =>
        each.kind === "networks" || (running(each) && registry.options.echo);
      const thing = choose((each) => isBound(each) && isSeen(each));
      const name = { name: `renamed ${pick}` };
      if (thing?.kind === "networks") set(thing, name, {});
      else set(thing, {}, name);
      return;
    }
    case "regrant":
      set(
        choose((each) => each.kind === "users"),
        { acl: "~* +INFO +PING +TTL" },
        {},
      );
      return;
    case "reuse": {
      const thing = choose((each) => isKnown(each, world) && isIdle(each));
      if (thing !== undefined) registry.reuse(thing);
      return;
    }
    case "create":
      stranger(pick, world);
      return;
    case "backup": {
      const thing = choose(running);
      if (thing !== undefined) registry.snapshot(thing, false, undefined);
      return;
    }
    case "person":
      person(world);
      return;
  }
}

/** True for a database of ours of which the state knows when it was created. */
function isKnown(thing: Thing, { stored }: World): boolean {
  const bound = Object.values(stored?.resources ?? {}).find(({ id }) => id === thing.id);
  return thing.kind === "instances" && thing.ours && bound?.shownCreatedAt !== undefined;
}

/** An object of somebody else in a place where ours are listed, in a region of its own. */
function stranger(pick: number, { registry }: World): void {
  const places = ["startup/standalone", "enterprise/standalone", "free/free"];
  registry.bear({
    id: `instance-stranger-${registry.things.length}`,
    kind: "instances",
    place: places[pick % places.length] ?? "",
    look: {
      status: "RUNNING",
      top: { cloud_provider: "aws", region: "eu-central-1" },
      params: { name: "theirs" },
    },
  });
}

/** Everybody who is waited for does what has to be done. */
export function person({ registry }: World): void {
  for (const thing of registry.things) {
    if (!isThere(thing)) continue;
    if (thing.awaits === "bootstrap") {
      delete thing.awaits;
      registry.begin(thing, "create", "DEPLOYING", undefined, { status: "READY" });
    } else if (thing.awaits === "offboard") thing.awaits = "last delete";
  }
}
