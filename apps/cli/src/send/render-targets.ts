import type { SendTarget } from '@svc/contract/send.ts';
import { visibleLine, type Style } from '../terminal.ts';

/** Where messages can be sent, one instance a line, with what its target is. */
export function renderTargets(targets: readonly SendTarget[], style: Style): string {
  const able = targets.flatMap((target) => (target.outbound === false ? [] : [{ ...target, outbound: target.outbound }]));
  if (able.length === 0) return 'No connector that messages can be sent through is set up.';
  const lines = able.map(({ instance_id: id, channel, name, enabled, outbound }) => {
    const state = enabled ? '' : style.dim(', stopped');
    return `  ${style.bold(channel)}  ${id} (${visibleLine(name)}${state}), target: ${outbound.target.label}, takes ${outbound.kinds.join(', ')}`;
  });
  return ['Messages can be sent through:', '', ...lines, '', '  ./svc send CHANNEL TARGET TEXT'].join('\n');
}
