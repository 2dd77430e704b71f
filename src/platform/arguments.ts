/** @module Reads the command line of the platform's program into its options. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { defined } from "../model/json.ts";
import { type FaultRule, parseFaultRules } from "./control/faults.ts";
import { dialectNames } from "./dialect/dialect.ts";
import { type OperationName, operationNames } from "./model/records.ts";
import type { PlatformOptions } from "./options.ts";

/** A command line that cannot be used; the message names the argument and its allowed values. */
export class ArgumentError extends Error {
  override readonly name = "ArgumentError";
}

const [text, flag] = [{ type: "string" }, { type: "boolean" }] as const;
const texts = {
  ...{ "data-dir": text, port: text, "users-port": text, host: text, profile: text, engine: text },
  ...{ networks: text, "failover-path": text, "page-size": text, faults: text, delay: text },
  ...{ "stale-status": text, "session-lifetime": text, "refresh-lifetime": text },
  ...{ "snapshot-interval": text, "users-per-minute": text },
} as const;
const known = { ...texts, echo: flag, "auto-bootstrap": flag } as const;

export const argumentNames: readonly string[] = Object.keys(known);

/** Options from `argv`: delays in ms, lifetimes in seconds, `--faults` a JSON or YAML file. Throws ArgumentError. */
export async function readArguments(argv: readonly string[]): Promise<PlatformOptions> {
  const values = parseValues(argv);
  const number = (name: keyof typeof texts): number | undefined => {
    const given = values[name];
    if (given !== undefined && !/^[0-9]+(\.[0-9]+)?$/.test(given))
      throw new ArgumentError(`--${name} must be a number, not ${given}`);
    return given === undefined ? undefined : Number(given);
  };
  const oneOf = <T extends string>(name: keyof typeof texts, allowed: readonly T[]): T | undefined => {
    const given = values[name];
    const found = allowed.find((value) => value === given);
    if (given === undefined || found !== undefined) return found;
    throw new ArgumentError(`--${name} must be ${allowed.join(" or ")}, not ${given}`);
  };
  const { host, engine, faults, delay, echo } = values;
  return {
    dataDir: resolve(values["data-dir"] ?? ".graphform/platform"),
    port: number("port") ?? 0,
    ...defined({
      usersPort: number("users-port"),
      profile: oneOf("profile", dialectNames),
      failoverPath: oneOf("failover-path", ["node", "component", "either"] as const),
      pageSize: number("page-size"),
      faults: faults === undefined ? undefined : await readFaults(faults),
      sessionLifetime: number("session-lifetime"),
      refreshLifetime: number("refresh-lifetime"),
      delays: delay === undefined ? undefined : readDelays(delay),
      staleStatus: number("stale-status"),
      networks: oneOf("networks", ["full", "adopt-only"] as const),
      autoBootstrap: values["auto-bootstrap"],
      snapshotInterval: number("snapshot-interval"),
      usersPerMinute: number("users-per-minute"),
      ...{ host, engine, echo },
    }),
  };
}

function parseValues(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], strict: true, options: known }).values;
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error));
  }
}

/** `500` for all operations, or `create=500,update=200`. */
function readDelays(given: string): number | { readonly [name in OperationName]?: number } {
  if (/^[0-9]+$/.test(given)) return Number(given);
  const delays: { [name in OperationName]?: number } = {};
  for (const part of given.split(",")) {
    const [name, ms] = part.split("=");
    const operation = operationNames.find((operationName) => operationName === name);
    if (operation === undefined || ms === undefined || !/^[0-9]+$/.test(ms)) {
      throw new ArgumentError(
        `--delay is a number of ms, or operation=ms,... with ${operationNames.join(", ")}; not ${part}`,
      );
    }
    delays[operation] = Number(ms);
  }
  return delays;
}

async function readFaults(path: string): Promise<readonly FaultRule[]> {
  let document: unknown;
  try {
    document = parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new ArgumentError(
      `cannot read fault rules from ${path}: ${error instanceof Error ? error.message : error}`,
    );
  }
  const rules = parseFaultRules(JSON.parse(JSON.stringify(document ?? [])));
  if (typeof rules === "string") throw new ArgumentError(`${path}: ${rules}`);
  return rules;
}
