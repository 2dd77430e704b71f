/** @module Turns a drift report into a JUnit suite: one case for each resource. */

import { parseAddress } from "../../model/address.ts";
import type { ResourceDrift } from "../../model/drift.ts";
import { type GraphformError, isManifestError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { SourceRange } from "../../model/problem.ts";
import { probeFigures } from "../census-json.ts";
import type { ShownDrift } from "../shown.ts";
import type { ShownValue } from "../shown-value.ts";
import { partialListsIn, unseenIn } from "../view/census-view.ts";
import { driftField, fieldText } from "../view/field-view.ts";
import type { JunitCase, JunitResult, JunitSuite } from "./junit.ts";

/** Converts the path of a manifest file to one relative to the root of the repository. */
type PathOf = (file: string) => string;

/**
 * The suite of a report. Failed is what was changed outside, and what nobody declares where that was asked for; an error is what could not
 * be read; skipped is what was not looked at, whose database gave no answer, or
 * is not at rest, and a list that was partial. What the manifest alone has changed passes: that is a plan, and no drift.
 */
export function driftSuite(report: ShownDrift, pathOf: PathOf): JunitSuite {
  const { name, timestamp, resources, unchanged, unmanaged = [], census } = report;
  const unsure = new Map([
    ...unseenIn(report).map(({ address, reason }) => [address, reason] as const),
    ...census.notChecked.map(({ address, reason }) => [address, reason] as const),
    ...census.unfinished.map(
      ({ address, reason }) => [address, `${reason}: what it shows may not last`] as const,
    ),
  ]);
  const looked = new Set<string>([...resources, ...unchanged].map(({ address }) => address));
  const resultOf = (address: string): JunitResult => {
    const message = unsure.get(address);
    return message === undefined ? { is: "passed" } : { is: "skipped", message };
  };
  const cases: readonly JunitCase[] = [
    ...resources.map((resource) => {
      const { address, kind, where } = resource;
      const failed = resource.class === "outside" ? failureOf(resource) : undefined;
      return {
        name: address,
        classname: kind,
        ...placeOf(where, pathOf),
        result: failed ?? resultOf(address),
      };
    }),
    ...unchanged.map(({ address, kind, where }) => ({
      ...{ name: address, classname: kind, ...placeOf(where, pathOf) },
      result: resultOf(address),
    })),
    ...census.notChecked
      .filter(({ address }) => !looked.has(address))
      .map(({ address, reason, failed }) => ({
        ...{ name: address, classname: parseAddress(address)?.section ?? "" },
        result: failed === true ? ({ is: "error", message: reason } as const) : resultOf(address),
      })),
    ...partialListsIn(report).map(({ address, reason: message }) => ({
      ...{ name: address, classname: address.split(" ")[0] ?? "" },
      result: { is: "skipped", message } as const,
    })),
    ...unmanaged.map(({ kind, id, name: called }) => ({
      ...{ name: called === undefined ? id : `${id} ${called}`, classname: kind },
      result: { is: "failed", message: "nobody declares it" } as const,
    })),
  ];
  return { name, timestamp, properties: probeFigures(census), cases };
}

/** The suite of a look that failed: one error for each problem of the manifest, or one. */
export function failedDriftSuite(error: GraphformError, name: string, pathOf: PathOf): JunitSuite {
  const problems = isManifestError(error)
    ? error.problems.filter(({ severity }) => severity === "error")
    : [];
  const { message, hint } = error;
  const whole: JunitCase = {
    name: "drift",
    classname: "graphform",
    result: { is: "error", message, ...defined({ detail: hint }) },
  };
  const cases = problems.map(
    (problem): JunitCase => ({
      name: `${problem.range.file}:${problem.range.start.line} ${problem.code}`,
      classname: "graphform",
      ...placeOf(problem.range, pathOf),
      result: {
        is: "error",
        message: problem.message,
        ...defined({ detail: problem.hint }),
      },
    }),
  );
  return { name, cases: cases.length === 0 ? [whole] : cases };
}

function failureOf(resource: ResourceDrift<ShownValue>): JunitResult {
  const lines = resource.fields
    .filter((field) => field.class === "outside")
    .map((field) => fieldText(driftField(field)));
  const detail = lines.length === 0 ? {} : { detail: lines.join("\n") };
  return { is: "failed", message: resource.reason, ...detail };
}

function placeOf(where: SourceRange | undefined, pathOf: PathOf): Pick<JunitCase, "file" | "line"> {
  return where === undefined ? {} : { file: pathOf(where.file), line: where.start.line };
}
