/** @module Checks the store of the state for `doctor`, and the clocks of servers. */
import { readFile } from "node:fs/promises";
import { systemClock } from "../../model/clock.ts";
import { GraphformError, isGraphformError, ManifestError, ownError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Hide } from "../../model/known-secrets.ts";
import { formatDuration } from "../../model/quantity.ts";
import { type StateLocation, stores } from "../../model/stores/index.ts";
import { openHttp } from "../../network/send-request.ts";
import type { Project } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { amount } from "../../report/words.ts";
import { assertSameManifest } from "../../state/claim-state.ts";
import { holderSince, holderWork } from "../../state/lock-words.ts";

/** Checks the state and its store. Leaves nothing there: the lock is taken and given back. */
export async function stateFindings(project: Project, settings: Settings): Promise<readonly Finding[]> {
  const { hide } = settings.secrets;
  const { location, store } = project;
  let isReached = true;
  const state = await check("state", hide, () =>
    stateDetail(project).catch((error: unknown) => {
      isReached = !isGraphformError(error) || !noAnswer.includes(error.code);
      throw error;
    }),
  );
  const { source, clock: clockOf } = stores[location.type];
  try {
    const found = [state];
    if (location.type !== "file")
      found.push(await check("state credentials", hide, async () => source(location, settings.variable)));
    if (!isReached) return found;
    found.push(await check("state store", hide, () => storeDetail(store, location)));
    const url = clockOf(location, settings.variable);
    const clock = url && (await clockFinding("state clock", url, settings.get("GRAPHFORM_CA_FILE")));
    return [...found, ...(clock || [])];
  } finally {
    await store.close();
  }
}

async function stateDetail({ store, identity }: Project): Promise<string> {
  const [found, holder] = [await store.read(), await store.holder()];
  if (found !== undefined) assertSameManifest(found, identity, store.where);
  const lock =
    holder === undefined
      ? "not locked"
      : `locked by ${holder.who}${holderWork(holder)}${holderSince(holder)}`;
  return found === undefined
    ? `nothing at ${store.where} yet, ${lock}`
    : `${store.where}, ${amount(Object.keys(found.resources).length, "resource")}, ${lock}`;
}

/** Tries the store, and its lock unless it is held. */
async function storeDetail(store: Project["store"], location: StateLocation): Promise<string> {
  await store.probe();
  const { refusesStaleWrites } = stores[location.type];
  const isUnproven = !refusesStaleWrites && (await store.readText()) === undefined;
  const proof = isUnproven ? "; nothing was written yet: the first run reads back what it writes" : "";
  const rule = `${refusesStaleWrites ? "refuses stale writes" : "the protocol compares nothing"}${proof}`;
  // The lock of a file would make its folder.
  if (location.type === "file" && (await store.readText()) === undefined) return "can be written to";
  try {
    const left: string[] = [];
    const lock = await store.lock("doctor", { clock: systemClock, warn: (message) => left.push(message) });
    await lock.release();
    if (left[0] !== undefined) throw new GraphformError("state-unreachable", left[0]);
    return `${rule}; the lock was taken and given back`;
  } catch (error) {
    if (!isGraphformError(error) || error.code !== "locked") throw error;
    return `${rule}; the lock is held, and was not tried`;
  }
}

const noAnswer: readonly string[] = ["state-unreachable", "state-denied", "state-credentials"];

/** Largest difference in ms that does no harm: leases are renewed every 20 s, and Date headers count whole seconds. */
const harmless = 10_000;

/** Longest wait for an answer, in ms. */
const answerTimeout = 10_000;

/** Compares with the Date header of any answer of the host. No finding if it does not answer: other checks say so. */
export async function clockFinding(name: string, url: string, caFile?: string): Promise<readonly Finding[]> {
  const skew = await skewOf(url, caFile).catch(() => undefined);
  if (skew === undefined) return [];
  const [host, size] = [URL.parse(url)?.host ?? url, Math.abs(skew)];
  if (size <= harmless) {
    const detail = `this machine and ${host} agree within ${formatDuration(harmless)}`;
    return [{ check: name, ok: true, detail }];
  }
  const detail = `the clock of this machine is ${formatDuration(size)} ${skew > 0 ? "behind" : "ahead of"} that of ${host}`;
  const hint = "set it by NTP (timedatectl set-ntp true): the age of locks and signatures depend on it";
  return [{ check: name, ok: false, detail, hint }];
}

/** Milliseconds by which the server's clock is ahead of this one. */
async function skewOf(url: string, caFile: string | undefined): Promise<number | undefined> {
  const origin = URL.parse(url)?.origin;
  if (origin === undefined) return undefined;
  const ca = caFile === undefined ? undefined : await readFile(caFile, "utf8");
  const http = openHttp({ ca, timeout: answerTimeout, maxSize: 1024 });
  const began = Date.now();
  try {
    const { headers } = await http.send({ method: "HEAD", origin, path: "/", headers: {} });
    const theirs = Date.parse(String(headers["date"]));
    // A Date header is cut to the second.
    return Number.isNaN(theirs) ? undefined : theirs + 500 - (began + Date.now()) / 2;
  } finally {
    await http.close();
  }
}

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly hint?: string;
}

/** Runs a check: its result is the detail of a finding, its error that of a failure. */
export async function check(name: string, hide: Hide, work: () => Promise<string>): Promise<Finding> {
  try {
    return { check: name, ok: true, detail: await work() };
  } catch (thrown) {
    const error = ownError(thrown, hide);
    if (error instanceof ManifestError) {
      const [first] = error.problems;
      const where =
        first === undefined ? "" : `: ${first.range.file}:${first.range.start.line}: ${first.message}`;
      return {
        check: name,
        ok: false,
        detail: `${amount(error.problems.length, "problem")}${where}`,
        hint: first?.hint ?? "graphform validate shows them",
      };
    }
    const { message, hint } = error;
    return { check: name, ok: false, detail: message, ...defined({ hint }) };
  }
}
