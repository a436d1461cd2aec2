import { useMemo } from 'react';
import { qrPath } from './qr-path.ts';
import './qr.css';

/** A text as a QR code. `label`: what it is a code of. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { path, size } = useMemo(() => qrPath(text), [text]);
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={path} />
    </svg>
  );
}
