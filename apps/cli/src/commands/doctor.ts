import { counted } from '@svc/service-kit/words.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { startDatabaseReader } from '../doctor/start-reader.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print, widthOf } from '../terminal.ts';

/** Examines everything that the service needs. Exit code 1 when a problem was found. */
export async function doctor({ json }: { json?: boolean }): Promise<number> {
  const reader = startDatabaseReader(); // it takes as long to start as the rest to be loaded
  const [{ examine }, { renderFinding }] = await Promise.all([import('../doctor/examine.ts'), import('../doctor/finding.ts')]);
  const findings = await examine(repositoryRoot, reader);
  const problems = findings.filter(({ state }) => state === 'problem').length;
  if (json === true) print(JSON.stringify({ ok: problems === 0, findings }, null, 2));
  else {
    const style = createStyle(process.stdout);
    print(findings.map((finding) => renderFinding(finding, style, widthOf(process.stdout))).join('\n'));
    print(problems === 0 ? `\n${style.green('All is well.')}` : `\n${style.red(`${counted(problems, 'problem')}.`)}`);
  }
  return problems === 0 ? exitCodes.ok : exitCodes.failed;
}
