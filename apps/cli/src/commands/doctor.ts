import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { examine } from '../doctor/examine.ts';
import type { Finding } from '../doctor/finding.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print, type Style } from '../terminal.ts';

/** Looks at everything the service needs. Exit code 1 when something is wrong. */
export async function doctor({ json }: { json?: boolean }): Promise<number> {
  const findings = await examine(repositoryRoot);
  const problems = findings.filter(({ state }) => state === 'problem').length;
  if (json === true) print(JSON.stringify({ ok: problems === 0, findings }, null, 2));
  else {
    const style = createStyle(process.stdout);
    print(findings.map((finding) => renderFinding(finding, style)).join('\n'));
    print(
      problems === 0 ? `\n${style.green('All is well.')}` : `\n${style.red(`${problems} problem${problems === 1 ? '' : 's'}.`)}`,
    );
  }
  return problems === 0 ? exitCodes.ok : exitCodes.failed;
}

function renderFinding({ name, state, text, fix }: Finding, style: Style): string {
  const mark = { ok: style.green('✓'), problem: style.red('✗'), note: style.yellow('!'), skipped: style.dim('-') }[state];
  const line = `${mark} ${name.padEnd(14)}${state === 'skipped' ? style.dim(text) : text}`;
  return fix === null ? line : `${line}\n  ${''.padEnd(14)}${style.bold('fix:')} ${fix}`;
}
