import { kinds } from "../../src/kinds/index.ts";
import type { Address } from "../../src/model/address.ts";
import type { Desired } from "../../src/model/desired.ts";
import type { SourceRange } from "../../src/model/errors.ts";
import { defined, isObject, type JsonObject } from "../../src/model/json.ts";
import type { Manifest } from "../../src/model/manifest.ts";
import type { Seal } from "../../src/model/sealed.ts";
import { flatten, type Spec } from "../../src/model/spec.ts";
import { referenceFields, waitsFor } from "../../src/model/templates.ts";
import type { ResourceCase, RunCase } from "./case.ts";

const where: SourceRange = {
  file: "simulated.yaml",
  start: { line: 1, column: 1 },
  end: { line: 1, column: 2 },
};

/** The manifest of a run as the manifest stage would hand it on: secrets sealed, references found, defaults of verbs filled in. */
export function manifestOf(run: RunCase, seal: Seal): Manifest {
  return {
    name: "simulated",
    state: {},
    desired: run.resources.map((resource) => desiredOf(resource, seal)),
    outputs: {},
    imports: [],
    moved: (run.moved ?? []).map(([from, to]) => ({ from, to, where })),
    removed: (run.released ?? []).map((address) => ({ address, destroy: false, where })),
    guards: run.maxDeletes === undefined ? {} : { maxDeletes: run.maxDeletes },
    warnings: [],
  };
}

function desiredOf(resource: ResourceCase, seal: Seal): Desired {
  const {
    address,
    protect,
    onReplace = "refuse",
    onDelete = "delete",
    dependsOn = [],
    patience,
    importId,
  } = resource;
  const kind = address.slice(0, address.indexOf("."));
  const spec: Spec = Object.fromEntries(
    Object.entries(flatten(resource.spec)).map(([path, value]) => [
      path,
      isSecret(path) ? seal(String(value), `${address} ${path}`) : value,
    ]),
  );
  return {
    address,
    kind,
    spec,
    refs: [...new Set([...refsOf(kind, resource.spec), ...dependsOn])],
    where: () => where,
    lifecycle: {
      ...defined({ protect }),
      onReplace,
      onDelete,
      ignoreChanges: [],
      dependsOn,
    },
    timeouts: patience === undefined ? {} : { create: patience },
    ...defined({ importId }),
  };
}

function isSecret(path: string): boolean {
  return path === "password" || path === "config.graphdbPassword";
}

/** Addresses that a spec names. */
export function refsOf(kind: string, nested: JsonObject): readonly Address[] {
  const spec = flatten(nested);
  const schema = kinds.find(kind)?.schema;
  const named = (schema === undefined ? [] : referenceFields(schema)).flatMap(({ path, section }) => {
    const name = spec[path];
    return typeof name === "string" ? [`${section}.${name}`] : [];
  });
  const awaited = Object.values(spec).flatMap((value) => (isObject(value) ? waitsFor(value) : []));
  return [...named, ...awaited];
}
