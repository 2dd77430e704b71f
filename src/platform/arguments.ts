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

const flags = ["echo", "auto-bootstrap"] as const;
const texts = [
  "data-dir",
  "port",
  "users-port",
  "profile",
  "failover-path",
  "page-size",
  "host",
  "engine",
  "faults",
  "session-lifetime",
  "refresh-lifetime",
  "delay",
  "stale-status",
  "networks",
  "snapshot-interval",
  "users-per-minute",
] as const;

export const argumentNames: readonly string[] = [...texts, ...flags];

/**
 * Options from `argv`. `--delay`, `--stale-status` and `--snapshot-interval` are milliseconds, lifetimes are seconds; `--faults`
 * names a JSON or YAML file. Throws ArgumentError.
 */
export async function readArguments(argv: readonly string[]): Promise<PlatformOptions> {
  const values = parseValues(argv);
  const text = (name: (typeof texts)[number]): string | undefined => {
    const given = values[name];
    return typeof given === "string" ? given : undefined;
  };
  const flag = (name: (typeof flags)[number]): boolean | undefined =>
    values[name] === true ? true : undefined;
  const number = (name: (typeof texts)[number]): number | undefined => {
    const given = text(name);
    if (given !== undefined && !/^[0-9]+(\.[0-9]+)?$/.test(given))
      throw new ArgumentError(`--${name} must be a number, not ${given}`);
    return given === undefined ? undefined : Number(given);
  };
  const oneOf = <T extends string>(name: (typeof texts)[number], allowed: readonly T[]): T | undefined => {
    const given = text(name);
    const found = allowed.find((value) => value === given);
    if (given === undefined || found !== undefined) return found;
    throw new ArgumentError(`--${name} must be ${allowed.join(" or ")}, not ${given}`);
  };
  const [faults, delay] = [text("faults"), text("delay")];
  return {
    dataDir: resolve(text("data-dir") ?? ".graphform/platform"),
    port: number("port") ?? 0,
    ...defined({
      usersPort: number("users-port"),
      profile: oneOf("profile", dialectNames),
      failoverPath: oneOf("failover-path", ["node", "component", "either"] as const),
      pageSize: number("page-size"),
      host: text("host"),
      engine: text("engine"),
      faults: faults === undefined ? undefined : await readFaults(faults),
      sessionLifetime: number("session-lifetime"),
      refreshLifetime: number("refresh-lifetime"),
      delays: delay === undefined ? undefined : readDelays(delay),
      staleStatus: number("stale-status"),
      echo: flag("echo"),
      networks: oneOf("networks", ["full", "adopt-only"] as const),
      autoBootstrap: flag("auto-bootstrap"),
      snapshotInterval: number("snapshot-interval"),
      usersPerMinute: number("users-per-minute"),
    }),
  };
}

function parseValues(argv: readonly string[]): { readonly [name: string]: unknown } {
  const types = [
    ...texts.map((name) => [name, { type: "string" }] as const),
    ...flags.map((name) => [name, { type: "boolean" }] as const),
  ];
  try {
    return parseArgs({ args: [...argv], strict: true, options: Object.fromEntries(types) }).values;
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
