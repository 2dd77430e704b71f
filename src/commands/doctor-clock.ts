/** @module Compares the clock of this machine with that of a server, for `doctor`. */
import { readFile } from "node:fs/promises";
import { request as requestInClear } from "node:http";
import { request as requestOverTls } from "node:https";
import { GraphformError } from "../model/errors.ts";
import { formatDuration } from "../model/quantity.ts";
import { check, type Finding } from "./doctor-check.ts";

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
