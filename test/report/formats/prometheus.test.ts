import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { driftMetrics, expositionText, failedDriftMetrics } from "../../../src/report/drift-metrics.ts";
import { text } from "../arbitraries.ts";
import { saying, whole } from "../drift-parts.ts";

const now = Date.parse("2026-03-05T14:03:09.120Z");

/** A written copy of the rules of the text format: the samples by series; throws where a line breaks a rule. */
function readMetrics(written: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  const [helped, typed] = [new Set<string>(), new Set<string>()];
  if (written !== "" && !written.endsWith("\n")) throw new Error("the last line has no end");
  for (const line of written.split("\n").slice(0, -1)) {
    const [, kind, metric = ""] =
      /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (?:gauge$|(?:[^\\]|\\\\|\\n)*$)/.exec(line) ?? [];
    if (kind !== undefined) {
      const seen = kind === "HELP" ? helped : typed;
      if (seen.has(metric)) throw new Error(`${kind} twice: ${line}`);
      seen.add(metric);
      continue;
    }
    const sample =
      /^([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (NaN|[+-]Inf|-?\d[\d.e+-]*)$/.exec(
        line,
      );
    if (sample === null) throw new Error(`no sample: ${JSON.stringify(line)}`);
    const [, name = "", labels = "", value] = sample;
    if (!typed.has(name)) throw new Error(`no type before ${line}`);
    if (samples.has(name + labels)) throw new Error(`twice: ${line}`);
    samples.set(name + labels, Number(value));
  }
  return samples;
}

describe("metrics of drift", () => {
  it("count resources, fields and values, and name what was changed outside with its age", () => {
    const found = Object.fromEntries(readMetrics(driftMetrics(whole, now)));
    expect(found).toMatchObject({
      'graphform_drift_success{manifest="shop"}': 1,
      'graphform_drift{manifest="shop"}': 1,
      'graphform_last_success_timestamp_seconds{manifest="shop"}': now / 1000,
      'graphform_resources{manifest="shop",state="declared"}': 5,
      'graphform_resources{manifest="shop",state="checked"}': 3,
      'graphform_resources{manifest="shop",state="skipped"}': 1,
      'graphform_resources{manifest="shop",state="unmanaged"}': 1,
      'graphform_resources{manifest="shop",state="drifted"}': 2,
      'graphform_drift_fields{manifest="shop",class="outside"}': 2,
      'graphform_drift_fields{manifest="shop",class="ours"}': 1,
      'graphform_values{manifest="shop",source="recorded"}': 7,
      'graphform_resource_info{manifest="shop",kind="instances",name="cache[\\"eu\\"]",sync_status="drifted",health="unknown"}': 1,
      'graphform_resource_info{manifest="shop",kind="instances",name="still",sync_status="synced",health="unknown"}': 1,
      'graphform_resource_drift_seconds{manifest="shop",kind="instances",name="orders"}': 3 * 24 * 3600,
    });
    expect(Object.keys(found).filter((key) => key.includes("drift_seconds"))).toHaveLength(2);
  });

  it("say that a database did not answer", () => {
    const notProbed = [
      { address: "instances.still", reason: "it did not answer in time", failed: true as const },
      { address: "instances.off", reason: "not running" },
      { address: "users.reader", reason: "not running", login: true as const },
    ];
    const census = { ...whole.census, probed: 1, logins: 2, notProbed };
    const silent = { ...whole, complete: false, census };
    expect(Object.fromEntries(readMetrics(driftMetrics(silent, now)))).toMatchObject({
      'graphform_drift_complete{manifest="shop"}': 0,
      'graphform_resources{manifest="shop",state="unanswered"}': 1,
      'graphform_databases{manifest="shop",state="asked"}': 1,
      'graphform_databases{manifest="shop",state="unanswered"}': 1,
      'graphform_databases{manifest="shop",state="not_asked"}': 1,
      'graphform_logins{manifest="shop",state="asked"}': 2,
      'graphform_logins{manifest="shop",state="unanswered"}': 0,
      'graphform_logins{manifest="shop",state="not_asked"}': 1,
    });
  });

  it("of a look that failed say so, and keep the time of the last success and nothing else", () => {
    const earlier = driftMetrics(whole, now);
    const failed = failedDriftMetrics("shop", earlier);
    expect(Object.fromEntries(readMetrics(failed))).toEqual({
      'graphform_drift_success{manifest="shop"}': 0,
      'graphform_last_success_timestamp_seconds{manifest="shop"}': now / 1000,
    });
    expect(failedDriftMetrics("shop", failed)).toBe(failed);
    expect(readMetrics(failedDriftMetrics("", "something else\n")).get("graphform_drift_success")).toBe(0);
  });

  it("follow the text format, whatever the words, and have each series once", () => {
    fc.assert(
      fc.property(text, (word) => {
        const written = driftMetrics(saying(word), now);
        readMetrics(written);
        expect(written.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cs}]/u);
        readMetrics(failedDriftMetrics(word, written));
      }),
    );
    const labels = { name: 'a"b\\c\nd\u0000' };
    expect(
      expositionText([
        {
          name: "x",
          help: "a\\b\nc",
          samples: [
            { labels, value: 1 },
            { labels, value: 2 },
          ],
        },
      ]),
    ).toBe('# HELP x a\\\\b\\nc\n# TYPE x gauge\nx{name="a\\"b\\\\c\\nd\ufffd"} 1\n');
  });

  it("have no value of a field", () => {
    expect(driftMetrics(whole, now)).not.toMatch(/hunter2|orders-2/);
  });
});
