import type { ChildState } from '@svc/supervisor/child-spec.ts';

/** What a person should know of a change of a host process; null for what was to be expected. */
export function describeChange(name: string, before: ChildState | null, after: ChildState): string | null {
  if (before === null || before.status === after.status) return null;
  const reason = (after.lastExit?.reason ?? 'ended').replace(/\.$/, '');
  if (after.status === 'failed') return `${name} ${reason}. It is not started again; ./svc logs ${name} shows more.`;
  if (after.status === 'backoff') {
    const waitS = Math.max(0, (after.nextStartAt ?? 0) - (after.lastExit?.at ?? 0)) / 1000;
    const count = after.failures < 2 ? '' : ` (${after.failures} times in a row)`;
    return `${name} ${reason}${count}. Starting it again ${waitS < 0.05 ? 'now' : `in ${waitS.toFixed(1)} s`}.`;
  }
  if (after.status === 'running' && after.lastExit !== null) return `${name} is back (process ${after.pid}).`;
  return null;
}
