import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take a minute or more, longest first. A new checkout knows no durations; one of these that started last would run alone at the end. */
export const slowFiles = [
  'engines/gemini/test/gemini-life.test.ts',
  'engines/gemini/test/gemini-policy.test.ts',
  'engines/claude/test/claude-policy.test.ts',
  'apps/cli/test/update.test.ts',
  'engines/gemini/test/gemini-tools.test.ts',
  'engines/claude/test/claude-life.test.ts',
  'apps/cli/test/update-killed.test.ts',
  'engines/codex/test/codex-life.test.ts',
  'engines/claude/test/claude-tools.test.ts',
  'engines/codex/test/codex-rights.test.ts',
  'engines/codex/test/codex-tools.test.ts',
  'apps/cli/test/update-killed-archive.test.ts',
  'test/e2e/dashboard-use.test.ts',
  'engines/claude/test/claude-contract.test.ts',
  'test/e2e/dashboard-texts.test.ts',
  'test/e2e/dashboard-looks.test.ts',
  'test/e2e/dashboard-chat.test.ts',
  'test/e2e/dashboard-secrets.test.ts',
  'test/e2e/release-archive.test.ts',
  'test/e2e/dashboard-acts.test.ts',
  'apps/core/test/engine-install.test.ts',
  'test/e2e/core-killed.test.ts',
  'test/e2e/dashboard-words.test.ts',
  'engines/gemini/test/gemini-contract.test.ts',
  'engines/claude/test/claude-owner.test.ts',
  'apps/core/test/toolbelt-engines.test.ts',
  'test/e2e/real-engines.test.ts',
  'test/e2e/dashboard-settings.test.ts',
  'test/e2e/dashboard-channels.test.ts',
  'apps/vault/test/faults.test.ts',
  'apps/cli/test/wrapper.test.ts',
  'apps/cli/test/up.test.ts',
];

/** Vitest's order, with the slow files of each project first. */
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
