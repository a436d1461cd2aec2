import { t } from '@svc/chat-ui/language/t.ts';
import { encode } from 'uqr';

const space = 'http://www.w3.org/2000/svg';

/** A text as a QR code: dark on white in every theme, because cameras want that. */
export function qrCode(text: string): SVGSVGElement {
  const { data, size } = encode(text, { border: 2 });
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  svg.setAttribute('class', 'qr');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', t('QR code of the key below'));
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', squares.join(''));
  svg.append(path);
  return svg;
}
