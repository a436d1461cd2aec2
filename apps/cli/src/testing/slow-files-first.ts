import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take thirty seconds or more, longest first. A new checkout knows no durations; one of these that started last would run alone at the end. */
export const slowFiles = [
  'apps/cli/test/update.test.ts',
  'apps/cli/test/update-killed.test.ts',
  'engines/gemini/test/gemini-life.test.ts',
  'test/e2e/release-archive.test.ts',
  'test/e2e/dashboard-looks.test.ts',
  'test/e2e/core-killed.test.ts',
  'apps/core/test/toolbelt-engines.test.ts',
  'apps/cli/test/update-killed-archive.test.ts',
  'test/e2e/dashboard-secrets.test.ts',
  'apps/core/test/terminal-engines.test.ts',
  'engines/gemini/test/gemini-policy.test.ts',
  'engines/gemini/test/gemini-contract.test.ts',
  'engines/claude/test/claude-life.test.ts',
  'test/e2e/dashboard-texts.test.ts',
  'apps/core/test/hostile-engines.test.ts',
  'test/e2e/dashboard-acts.test.ts',
  'test/e2e/dashboard-chat.test.ts',
  'test/e2e/dashboard-use.test.ts',
  'engines/codex/test/codex-tools.test.ts',
  'apps/cli/test/update-agent.test.ts',
  'test/e2e/dashboard-settings.test.ts',
  'test/e2e/third-party-connector.test.ts',
  'test/e2e/dashboard-undelivered.test.ts',
  'test/e2e/device-service.test.ts',
  'apps/core/test/terminal-words.test.ts',
  'connectors/messenger/test/faults.test.ts',
  'test/e2e/dashboard-forms.test.ts',
  'apps/manager/test/manager-process.test.ts',
  'connectors/toolserver/test/conformance.test.ts',
  'apps/core/test/engine-install.test.ts',
  'test/e2e/dashboard-people.test.ts',
  'engines/claude/test/claude-tools.test.ts',
  'test/e2e/proxies.test.ts',
  'test/e2e/dashboard-live.test.ts',
  'test/e2e/dashboard-words.test.ts',
  'engines/gemini/test/gemini-tools.test.ts',
  'test/e2e/dashboard-passkeys.test.ts',
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
