/** @module Defines the options that several commands share. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { typedAddress } from "../model/address.ts";
import { disruptions } from "../model/field-schema.ts";
import { defined } from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";
import { parseDuration } from "../model/quantity.ts";
import type { Project } from "../project/project.ts";
import type { Goal } from "../reconcile/plan-for.ts";
import type { PlanChoices } from "../state/plan-file.ts";
import { optionGroups } from "./define-command.ts";

/** The goal of a plan of a run's manifest, by the options of the command. */
export function goalOf(
  { project, manifest }: { readonly project: Project; readonly manifest: Manifest },
  options: Partial<PlanChoices>,
  destroying = false,
): Goal {
  const { target: targets = [], exclude = [], replace = [], allowDestroy = [] } = options;
  const { cutover = [], maxDisruption } = options;
  return {
    manifest,
    options: { targets, exclude, replace, allowDestroy, cutover, ...defined({ maxDisruption }) },
    timestamp: project.timestamp,
    destroying,
    probing: options.probe !== false,
  };
}

const addressOptions = [
  ["--target", "plan this and what it refers to only"],
  ["--exclude", "leave this out"],
  ["--replace", "replace this, whatever it needs"],
  ["--allow-destroy", "allow destroying or replacing this resource"],
  ["--cutover", "move the data of this database now, with lifecycle.onReplace: migrate"],
] as const;

/** Adds the options of `plan`, `apply` and `destroy`. */
export function withPlanOptions(command: Command): Command {
  const planning = withManifestOptions(command).optionsGroup(optionGroups.changes);
  for (const [name, about] of addressOptions)
    planning.option(`${name} <address>`, `${about} (repeatable)`, collectAddress, []);
  return planning
    .option("--no-probe", "do not ask the running databases")
    .addOption(
      new Option("--max-disruption <worst>", "refuse changes more disruptive than this").choices(disruptions),
    )
    .optionsGroup(optionGroups.own);
}

/** Adds the options of the commands that read a manifest. */
export function withManifestOptions(command: Command): Command {
  return withStateOptions(command)
    .optionsGroup(optionGroups.service)
    .option("--profile <name>", "service profile: a built-in name or a file")
    .option("--platform-url <url>", "the platform host")
    .option("--users-url <url>", "the users host")
    .option("--subscription <id>", "subscription that owns the instances")
    .option("--parallelism <n>", "requests in flight at most", positive)
    .option("--timeout <duration>", "longest wait for a resource or an answer, for example 40m", duration)
    .optionsGroup(optionGroups.output)
    .option("--log <file>", "append JSON lines of every event, redacted")
    .option("--trace", "one line per request on standard error")
    .optionsGroup(optionGroups.own);
}

/** Adds the options of the commands that only read the state. */
export function withStateOptions(command: Command): Command {
  return command
    .optionsGroup(optionGroups.manifest)
    .option("-f, --file <path>", "manifest file or folder (repeatable; default graphform.yaml)", collect, [])
    .option("--state <place>", "where the state is: a path, or a URL like s3://BUCKET/KEY")
    .option("--lock-timeout <duration>", "wait this long for the state's lock", duration)
    .option("--var <k=v>", "set a variable (repeatable)", collect, [])
    .option("--var-file <path>", "read variables from a YAML or JSON file (repeatable)", collect, [])
    .optionsGroup(optionGroups.output)
    .option("--no-color", "no colour")
    .optionsGroup(optionGroups.own);
}

/** Shared options of locks: they act if something is changed. */
export const changing: readonly string[] = ["--lock-timeout"];
/** Shared options that act if requests are sent for the manifest. */
export const requesting: readonly string[] = ["--parallelism", "--timeout", "--trace", "--log"];

export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

export function collectAddress(value: string, before: readonly string[]): readonly string[] {
  return collect(typedAddress(value), before);
}

export function positive(text: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(text))
    throw new InvalidArgumentError("it must be a whole number from 1 to 9999.");
  return Number(text);
}

export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new InvalidArgumentError("it must be a duration like 90s, 40m or 2h, at most 24d.");
  return ms;
}
