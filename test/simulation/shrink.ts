import type { Case, ResourceCase, RunCase } from "./case.ts";
import { service as calmService } from "./case-parts.ts";
import { refsOf } from "./manifest-of.ts";
import { simulate } from "./simulate.ts";

/** A smaller case that breaks the same promise: fewest runs, resources, faults and liberties that can be got by leaving out. */
export async function shrink(given: Case, promise: string, most = 3000): Promise<Case> {
  let smallest = given;
  let tries = 0;
  for (let isSmaller = true; isSmaller && tries < most; ) {
    isSmaller = false;
    for (const candidate of smaller(smallest)) {
      if (tries++ >= most) break;
      const { violation } = await simulate(candidate);
      if (violation?.promise !== promise) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

/** Everything that is one step smaller, the largest steps first. */
function* smaller(given: Case): Generator<Case> {
  const { runs, service, store: _store, ...rest } = given;
  if (given.store !== undefined) yield { ...rest, runs, service };
  for (const at of runs.keys())
    if (runs.length > 1) yield { ...given, runs: runs.filter((_, index) => index !== at) };
  for (const address of new Set(runs.flatMap((run) => run.resources.map((resource) => resource.address)))) {
    yield { ...given, runs: runs.map((run) => without(run, address)) };
  }
  for (const [at, run] of runs.entries()) {
    for (const less of smallerRuns(run))
      yield { ...given, runs: runs.map((each, index) => (index === at ? less : each)) };
  }
  for (const [name, value] of Object.entries(calmService())) {
    const key = Object.keys(service).find((each) => each === name);
    if (
      key !== undefined &&
      !Object.is(Object.entries(service).find(([each]) => each === name)?.[1], value)
    ) {
      yield { ...given, service: { ...service, [name]: value } };
    }
  }
}

function* smallerRuns(run: RunCase): Generator<RunCase> {
  const {
    crash,
    stop,
    abort,
    pause,
    later,
    rival,
    away,
    blind,
    moved,
    released,
    replace,
    allowDestroy,
    targets,
    exclude,
    maxDeletes,
    ...rest
  } = run;
  const optional = {
    crash,
    stop,
    abort,
    pause,
    later,
    rival,
    away,
    blind,
    moved,
    released,
    replace,
    allowDestroy,
    targets,
    exclude,
    maxDeletes,
  };
  const present = Object.entries(optional).filter(([, value]) => value !== undefined);
  for (const [name] of present)
    yield { ...rest, ...Object.fromEntries(present.filter(([each]) => each !== name)) };
  for (const at of (run.faults ?? []).keys())
    yield { ...run, faults: (run.faults ?? []).filter((_, index) => index !== at) };
  for (const at of (run.others ?? []).keys())
    yield { ...run, others: (run.others ?? []).filter((_, index) => index !== at) };
  for (const [at, resource] of run.resources.entries()) {
    const { protect, onReplace, onDelete, patience, ...plain } = resource;
    const guards = Object.entries({ protect, onReplace, onDelete, patience }).filter(
      ([, value]) => value !== undefined,
    );
    for (const [name] of guards) {
      const less: ResourceCase = {
        ...plain,
        ...Object.fromEntries(guards.filter(([each]) => each !== name)),
      };
      yield { ...run, resources: run.resources.map((each, index) => (index === at ? less : each)) };
    }
  }
}

/** The run without a resource, and without what cannot be without it. */
function without(run: RunCase, address: string): RunCase {
  const gone = new Set([address]);
  for (const each of run.resources) {
    const refs = refsOf(each.address.slice(0, each.address.indexOf(".")), each.spec);
    if (refs.some((ref) => gone.has(ref))) gone.add(each.address);
  }
  return { ...run, resources: run.resources.filter((each) => !gone.has(each.address)) };
}
