import { describeOwner, findPortOwner } from '@svc/supervisor/port-owner.ts';

/**
 * Who has the port that a process could not have: it knows only that somebody has it. Null when the reason is another
 * one, or the system does not tell. `idOfPid` knows the instances; `mask` takes secrets out of the command line of a program.
 */
export async function explainPortClash(
  reason: string,
  { idOfPid, mask }: { idOfPid: (pid: number) => string | null; mask: (text: string) => string },
): Promise<string | null> {
  // The words of the kit (`startFailure`).
  const port = Number(/^Port (\d{1,5}) is in use/.exec(reason)?.[1] ?? 0);
  if (port === 0) return null;
  const owner = await findPortOwner(port);
  if (owner === null) return null;
  const id = idOfPid(owner.pid);
  const who = id === null ? describeOwner({ ...owner, program: mask(owner.program) }) : `the instance "${id}"`;
  return `Port ${port} is in use by ${who}. Stop it or choose another port for this instance.`;
}
