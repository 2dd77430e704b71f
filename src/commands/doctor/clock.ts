/** @module Compares the clock of this machine with that of a server, for `doctor`. */

import { readFile } from "node:fs/promises";
import { request as requestInClear } from "node:http";
import { request as requestOverTls } from "node:https";
import { GraphformError, ManifestError, ownError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Hide } from "../../model/known-secrets.ts";
import { formatDuration } from "../../model/quantity.ts";
import { amount } from "../../report/words.ts";

/** Largest difference in ms that does no harm: leases are renewed every 20 s, and Date headers count whole seconds. */
const harmless = 10_000;

/** Longest wait for an answer, in ms. */
const answerTimeout = 10_000;

/** Compares with the Date header of any answer of the host. No finding where it does not answer: other checks say so. */
export async function clockFinding(name: string, url: string, caFile?: string): Promise<readonly Finding[]> {
  const skew = await skewOf(url, caFile).catch(() => undefined);
  if (skew === undefined) return [];
  const finding = await check(
    name,
    (said) => said,
    async () => {
      const size = formatDuration(Math.abs(skew));
      if (Math.abs(skew) <= harmless)
        return `this machine and ${URL.parse(url)?.host ?? url} agree within ${formatDuration(harmless)}`;
      throw new GraphformError(
        "clock-skew",
        `the clock of this machine is ${size} ${skew > 0 ? "behind" : "ahead of"} that of ${URL.parse(url)?.host ?? url}`,
        { hint: "set it by NTP (timedatectl set-ntp true): the age of locks and signatures depend on it" },
      );
    },
  );
  return [finding];
}

/** Milliseconds by which the server's clock is ahead of this one. */
async function skewOf(url: string, caFile: string | undefined): Promise<number | undefined> {
  const origin = URL.parse(url)?.origin;
  if (origin === undefined) return undefined;
  const ca = caFile === undefined ? {} : { ca: await readFile(caFile) };
  const request = origin.startsWith("https:") ? requestOverTls : requestInClear;
  const began = Date.now();
  const date = await new Promise<string | undefined>((resolve, reject) => {
    const sent = request(`${origin}/`, { method: "HEAD", agent: false, timeout: answerTimeout, ...ca });
    sent.once("response", (response) => {
      response.resume();
      resolve(response.headers.date);
    });
    sent.once("timeout", () => sent.destroy(new Error("no answer")));
    sent.once("error", reject);
    sent.end();
  });
  const theirs = Date.parse(date ?? "");
  // A Date header is cut to the second.
  return Number.isNaN(theirs) ? undefined : theirs + 500 - (began + Date.now()) / 2;
}

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** Way to fix it, if it failed. */
  readonly hint?: string;
}

/** Runs a check: its result is the detail of a finding, what it throws that of a failure. */
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
