import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes half a minute and more, longest first. A new checkout knows no times; one of these that began last would run alone at the end. */
export const slowFiles = [
  'test/e2e/core-killed.test.ts',
  'test/e2e/messenger-killed.test.ts',
  'engines/gemini/test/gemini-life.test.ts',
  'engines/codex/test/codex-tools.test.ts',
  'engines/claude/test/claude-policy.test.ts',
  'engines/claude/test/claude-life.test.ts',
  'engines/gemini/test/gemini-policy.test.ts',
  'engines/claude/test/claude-tools.test.ts',
  'connectors/messenger/test/outgoing.test.ts',
  'engines/codex/test/codex-life.test.ts',
  'engines/gemini/test/gemini-tools.test.ts',
  'apps/vault/test/faults.test.ts',
  'apps/core/test/hostile-engines.test.ts',
  'apps/core/test/toolbelt-engines.test.ts',
  'engines/codex/test/codex-rights.test.ts',
  'apps/manager/test/manager-process.test.ts',
  'connectors/messenger/test/crabline.test.ts',
  'test/e2e/real-engines.test.ts',
  'test/e2e/upload-faults.test.ts',
  'test/e2e/third-party-connector.test.ts',
  'test/e2e/processes-return.test.ts',
  'apps/collector/test/terminals.test.ts',
];

/** Vitest's order, with the slow files in front of their project's others. */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => this.#rank(a) - this.#rank(b));
  }

  #rank({ moduleId, project }: TestSpecification): number {
    const place = slowFiles.indexOf(path.relative(this.ctx.config.root, moduleId));
    const rank = place === -1 ? slowFiles.length : place;
    return project.config.sequence.groupOrder * (slowFiles.length + 1) + rank;
  }
}
