import { expect, it } from "vitest";
import type { DriftReport } from "../../../src/model/drift.ts";
import { pageAssets } from "../../../src/project/package-files.ts";
import { driftMetrics } from "../../../src/report/drift-metrics.ts";
import { junitText } from "../../../src/report/junit.ts";
import { sarifLog } from "../../../src/report/sarif/sarif-log.ts";
import { makePalette } from "../../../src/report/typeset.ts";
import { probeFigures } from "../../../src/report/view/census-view.ts";
import { whole } from "../drift-parts.ts";
import { driftFindings, driftHtml, driftJson, driftMarkdown, driftSuite, driftText } from "../rendered.ts";
import { words } from "../words.ts";

const silent = {
  address: "instances.still",
  reason: "it did not answer in time",
  wayOut: "check the firewall",
  failed: true,
} as const;
const login = { address: "users.reader", reason: "not running", login: true } as const;
const report: DriftReport = {
  ...whole,
  complete: false,
  census: { ...whole.census, probed: 2, logins: 4, notProbed: [silent, login] },
};
const line = "databases: 2 of 3 asked; logins of users: 4 of 5 tried";
const rules =
  "access rules of 5 users: compared with those that the service keeps; not checked in the database";
const reason = "no answer from instances.still: it did not answer in time (check the firewall)";

it("every report has the same number of databases and of logins, each of all, and the reason with its way out", () => {
  const text = driftText(report, words, { palette: makePalette(false), width: 300, verbose: false });
  for (const written of [text, driftMarkdown(report, words), driftHtml(report, words, pageAssets())]) {
    expect(written).toContain(line);
    expect(written).toContain(reason);
    expect(written).toContain(rules);
  }
  expect(driftJson(report, words)).toMatchObject({
    census: {
      databases: { asked: 2, all: 3 },
      logins: { asked: 4, all: 5 },
      access_rules: { not_checked_in_database: 5 },
      not_probed: [{}, { login: true }],
    },
  });
  const figures = {
    "databases.asked": 2,
    "databases.all": 3,
    "logins.asked": 4,
    "logins.all": 5,
    "accessRules.notCheckedInDatabase": 5,
  };
  const junit = junitText([driftSuite(report, words, (file) => file)]);
  for (const [name, value] of Object.entries(figures))
    expect(junit).toContain(`<property name="${name}" value="${value}"/>`);
  const context = {
    version: "1",
    projectUrl: "https://forge.example/graphform",
    fallbackFile: "graphform.yaml",
    uriOf: (file: string) => file,
  };
  const sarif = sarifLog(driftFindings(report, words), {
    ...context,
    digest: (digested) => digested,
    figures: probeFigures(report.census),
  });
  expect(sarif.log).toMatchObject({ runs: [{ properties: figures }] });
  expect(JSON.stringify(sarif.log)).toContain("it did not answer in time (check the firewall)");
  const metrics = driftMetrics(report, 0);
  expect(metrics).toContain('graphform_databases{manifest="shop",state="asked"} 2');
  expect(metrics).toContain('graphform_databases{manifest="shop",state="unanswered"} 1');
  expect(metrics).toContain('graphform_logins{manifest="shop",state="asked"} 4');
  expect(metrics).toContain('graphform_logins{manifest="shop",state="not_asked"} 1');
  expect(metrics).toContain('graphform_access_rules{manifest="shop",state="not_checked_in_database"} 5');
});
