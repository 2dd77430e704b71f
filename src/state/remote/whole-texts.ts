/** @module Reads and replaces whole documents of a shared store, whatever their serials, and reads earlier versions. */
import type { Clock } from "../../model/clock.ts";
import { isObject } from "../../model/json.ts";
import type { VersionId } from "../document.ts";
import type { KeptStore } from "../kept-store.ts";
import { changedMeanwhile } from "../store-trouble.ts";
import type { ConditionalWriter } from "./conditional-writer.ts";
import type { StateDriver, Stored } from "./driver.ts";
import type { HeldLease } from "./held-lease.ts";
import { notLocked } from "./remote-trouble.ts";
import { untilAnswered } from "./store-retry.ts";

/** Parts of the store that the texts belong to. */
interface StoreParts {
  readonly driver: StateDriver;
  readonly writer: ConditionalWriter;
  readonly clock: Clock;
  readonly held: () => HeldLease | undefined;
  /** Resolves once no write is under way. */
  readonly idle: () => Promise<void>;
}

/** The methods of a store that move and repair a state, and read earlier versions. */
export type WholeTexts = Omit<
  KeptStore,
  "where" | "read" | "write" | "append" | "keep" | "lock" | "holder" | "unlock"
>;

/** Makes these methods. After `replaceText` the state has to be read again. */
export function wholeTexts({ driver, writer, clock, held, idle }: StoreParts): WholeTexts {
  let seen: Stored | undefined;
  return {
    async readText(): Promise<Stored | undefined> {
      await idle();
      seen = await untilAnswered(() => driver.read(), { clock });
      return seen;
    },
    async replaceText(text, expected): Promise<void> {
      await idle();
      const lease = held();
      if (lease === undefined) throw notLocked(driver.where);
      if (seen?.version !== expected) throw changedMeanwhile(driver.where);
      writer.know(seen, undefined);
      await writer.put(text, idIn(text), lease);
      seen = { text, version: writer.known()?.version ?? "" };
    },
    history: () => untilAnswered(() => driver.history(), { clock }),
    readVersion: (id) => untilAnswered(() => driver.readVersion(id), { clock }),
    prepare: () => driver.prepare(),
    probe: () => driver.probe(),
    close: () => driver.close(),
  };
}

/** The lineage and serial that a document names. */
function idIn(text: string): VersionId {
  const value: unknown = JSON.parse(text);
  const { lineage, serial } = isObject(value) ? value : {};
  return {
    lineage: typeof lineage === "string" ? lineage : "",
    serial: typeof serial === "number" ? serial : 0,
  };
}
