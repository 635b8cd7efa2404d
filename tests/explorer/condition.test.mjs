import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { commandOf, complaint } from "../../lineage_post/explorer/page/src/condition.js";

const COLUMNS = ["id", "Order Day", "amount"], FUNCTIONS = ["abs", "lower"];
/** The docs panel is a script of its own, with the same rules. */
const panel = readFileSync(new URL("../../lineage_post/publish/panel.js", import.meta.url), "utf8");
const rules = panel.slice(panel.indexOf("  var WORDS ="), panel.indexOf("  function quoted("));
const ofPanel = new Function("data", `${rules}; return complaint;`)({ why: { functions: FUNCTIONS } });

const CASES = [
  ["id = 42", true], ["ID in (1, 2) and amount > 1.5", true], ["abs(amount) >= 3 or lower('A''b') = 'a'", true], ['"Order Day" is null', true], ["amount between 1 and 2", true],
  ["", false], ["other = 1", false], ["id = 1; drop table x", false], ["id = 1 -- or", false], ["id /* x */ = 1", false], ["(id = 1", false], ["id = 1)", false],
  ["sleep(1) = 1", false], ["id in (select 1)", false], ['"gone" = 1', false], ["id = 'open", false], ["id = $1", false], ["\u0000", false],
];

for (const [text, isGood] of CASES) {
  test(`a condition is ${isGood ? "taken" : "refused"}: ${JSON.stringify(text)}`, () => {
    const said = complaint(text, COLUMNS, FUNCTIONS);
    assert.equal(said === null, isGood, said);
    assert.equal(said, ofPanel(text, COLUMNS), "the docs panel says the same");
  });
}

test("a quote in a condition does not end the command's argument", () => {
  assert.equal(commandOf("model.a.b", "x = 'y'"), `lineage-post why model.a.b --where 'x = '\\''y'\\'''`);
});
