import type { LinkResult } from '@svc/contract/pairing.ts';
import type { ToolPolicy } from '@svc/contract/trust.ts';
import type { Style } from '../terminal.ts';
import { senderName } from './render-pending.ts';

const mayDo: Record<ToolPolicy, string> = {
  none: 'may talk with the assistant',
  read: 'may let it look things up, not change anything',
  full: 'may let it do anything on this machine',
};

/** What pairing did, and the way back or further. */
export function renderLink({ principal, identifier, sender_name, role, trust }: LinkResult, style: Style): string {
  const sender = senderName({ ...identifier, name: sender_name });
  const lines = [
    principal.is_new
      ? `${style.green('Let in:')} ${sender} is now "${principal.key}", with the role ${role}.`
      : `${style.green('Linked:')} ${sender} is now one more way in for "${principal.key}".`,
    trust.denied
      ? style.yellow(`Their messages are still refused: ${trust.reason}.`)
      : `${principal.is_new ? 'They' : `"${principal.key}"`} ${mayDo[trust.tool_policy]}. Their next message is answered.`,
    '',
    `Undo:   ./svc person unlink ${identifier.id}`,
  ];
  if (trust.denied || trust.tool_policy !== 'full') {
    lines.push(`Widen:  ./svc person grant ${principal.key} trusted`);
  }
  return lines.join('\n');
}
