import type { ApplyContext } from "../../src/apply/context.ts";
import { createClasses } from "../../src/apply/creates/create-class.ts";
import { type Driver, kindRegistry } from "../../src/model/kind.ts";
import { perText } from "../../src/model/once.ts";
import type { ApplyEvent } from "../../src/model/outcome.ts";
import { emptyState } from "../../src/state/document.ts";
import { openJournal } from "../../src/state/journal.ts";
import { createMemoryStore } from "./memory-store.ts";
import { toyKind, toyProfile } from "./toy-kind.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** What one step of apply works with, over a driver of toys. */
export function applyContext(
  clock: VirtualClock,
  driver: Driver,
  over: Partial<ApplyContext> = {},
): ApplyContext {
  const state = emptyState("toys", { lineage: "lineage-1", key: "00".repeat(32) });
  const never = new AbortController().signal;
  const context = {
    kinds: kindRegistry([toyKind(driver)]),
    drivers: new Map([["toys", driver]]),
    profile: toyProfile,
    clock,
    journal: openJournal(createMemoryStore(), state, clock),
    open: () => undefined,
    hide: (text: string) => text,
    digest: (text: string) => text,
    emit: (_event: ApplyEvent) => {},
    outputs: new Map(),
    outputsAtStart: new Map(),
    stateAtStart: state,
    stopping: never,
    aborting: never,
    durations: perText(() => ({ unfinished: 0 })),
    dateOf: () => Math.floor(clock.now() / 1000) * 1000,
    shownPaths: new Map(),
    ...over,
  };
  return { ...context, classFor: over.classFor ?? createClasses(context) };
}
