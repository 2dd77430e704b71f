/** @module Puts documents into a store, each in place of the one that is known; an answer that is lost is found out by reading. */
import type { Clock } from "../../model/clock.ts";
import { orAborted } from "../../model/once.ts";
import type { StateDocument } from "../../model/state.ts";
import { digestOf, type VersionId, versionIdOf } from "../document.ts";
import { stateDigest } from "../errored-state.ts";
import type { HeldLease } from "../held-lease.ts";
import type { Stored } from "../store.ts";
import { conflict } from "../store-trouble.ts";
import type { StateDriver } from "./driver.ts";
import { readStored } from "./read-stored.ts";
import { untilAnswered } from "./store-retry.ts";

interface Sent {
  readonly text: string;
  readonly id: VersionId;
  readonly digest: string;
}

/** The version that is known to be stored; every field is undefined if nothing is stored. */
export type KnownVersion = {
  readonly [field in keyof Sent | "version"]: (Sent & Pick<Stored, "version">)[field] | undefined;
};

export function conditionalWriter(driver: StateDriver, name: string, clock: Clock) {
  let known: KnownVersion | undefined;
  /** Texts that are on their way, or were sent without an answer, by digest: each may be stored, now or later. */
  const unsure = new Map<string, Sent>();
  /** Digest of the text stored at the first look under this lock, before anything is known. */
  let atFirst: { readonly digest: string | undefined } | undefined;

  const confirm = (version: string, sent: Sent): void => {
    known = { version, ...sent };
    unsure.clear();
  };
  const contentOf = (text: string): string => {
    try {
      return stateDigest(readStored(text, driver.where, name));
    } catch {
      return digestOf(text);
    }
  };

  /** Reads, and returns true if the text is stored by now. Throws if the stored version is neither ours nor the one before it. */
  const isStored = async (sent: Sent): Promise<boolean> => {
    const stored = await driver.read();
    const found = stored && digestOf(stored.text);
    if (stored !== undefined && found === sent.digest) {
      confirm(stored.version, sent);
      return true;
    }
    const earlier = found === undefined ? undefined : unsure.get(found);
    if (stored !== undefined && earlier !== undefined) known = { version: stored.version, ...earlier };
    else if (found !== known?.digest || stored?.version !== known?.version)
      throw conflict(
        driver.where,
        sent.id,
        stored && versionIdOf(readStored(stored.text, driver.where, name)),
      );
    return false;
  };

  const attempt = async (sent: Sent, held: HeldLease): Promise<boolean> => {
    await held.look();
    held.ended.throwIfAborted();
    if (unsure.size > 0 && (await isStored(sent))) return true;
    await held.look();
    held.ended.throwIfAborted();
    unsure.set(sent.digest, sent);
    const answer = await driver.write(sent.text, known?.version, held.current());
    if (answer.is === "stale") return isStored(sent);
    confirm(answer.version, sent);
    return true;
  };

  return {
    /** Sets the version that is stored now; forgets writes without an answer. */
    know(stored: Stored | undefined, state: StateDocument | undefined): void {
      known = {
        version: stored?.version,
        id: state && versionIdOf(state),
        digest: stored && digestOf(stored.text),
        text: stored?.text,
      };
      unsure.clear();
    },
    /** Undefined before anything was read or written. */
    known: (): KnownVersion | undefined => known,
    /** Contents (`stateDigest`) of all documents that may be stored now; undefined: of none. */
    possible: (): readonly (string | undefined)[] => [
      known?.text === undefined ? undefined : contentOf(known.text),
      ...[...unsure.values()].map(({ text }) => contentOf(text)),
    ],
    /** Stores a text that follows what is known. Throws `state-conflict`, `state-unreachable`, or the reason for which the lease has ended. */
    async put(text: string, id: VersionId, held: HeldLease): Promise<void> {
      const sent = { text, id, digest: digestOf(text) };
      const base = known;
      const rules = { clock, signal: held.ended, longest: held.safe };
      // Stale although the expected version is stored: the lease is not ours, or an earlier write of ours has just arrived.
      for (let tries = 0; tries < 3; tries += 1) {
        if (
          await orAborted(
            untilAnswered(() => attempt(sent, held), rules),
            held.late,
          )
        )
          return;
        await held.renew();
      }
      held.ended.throwIfAborted();
      throw conflict(driver.where, id, base?.id);
    },
    /** Forgets the known version, for example when a lock is taken: it was read without our lock. */
    forget(): void {
      [known, atFirst] = [undefined, undefined];
      unsure.clear();
    },
    /** True if what is stored is what is known or was sent: no other run has written. While nothing is known it must stay as it is. */
    async isUnchanged(): Promise<boolean> {
      const before = known;
      const stored = await driver.read();
      // A write of ours was answered meanwhile.
      if (known !== before) return true;
      const digest = stored && digestOf(stored.text);
      atFirst ??= { digest };
      if (known === undefined) return digest === atFirst.digest;
      return digest === known.digest || (digest !== undefined && unsure.has(digest));
    },
  };
}
