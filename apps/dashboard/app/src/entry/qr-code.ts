import { t } from '@svc/chat-ui/language/t.ts';
import { qrPath } from '../parts/qr-path.ts';

const space = 'http://www.w3.org/2000/svg';

/** A text as a QR code. */
export function qrCode(text: string): SVGSVGElement {
  const { path: squares, size } = qrPath(text);
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  svg.setAttribute('class', 'qr');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', t('QR code of the key below'));
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', squares);
  svg.append(path);
  return svg;
}
