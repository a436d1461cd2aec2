import { Link2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Device } from './device.ts';
import { GatewayFault, pair } from './gateway.ts';

type Props = { code: string | null; onPaired(device: Device): Promise<void> };

/** A link may be pasted whole. */
const codeIn = (text: string): string => /#pair=([^&\s]+)/.exec(text)?.[1] ?? text.trim();

/** Makes this browser a device of the assistant, by the code of a link. */
export function PairPage({ code, onPaired }: Props) {
  const [text, setText] = useState(code ?? '');
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const tried = useRef(false);

  const redeem = async (given: string) => {
    setBusy(true);
    setFault(null);
    try {
      const { token, device, assistant, instance_id } = await pair(codeIn(given));
      await onPaired({ token, id: device.id, name: device.name, assistant, instance_id });
    } catch (error) {
      setFault(faultOf(error));
      setBusy(false);
    }
  };
  useEffect(() => {
    if (code === null || tried.current) return;
    tried.current = true;
    void redeem(code);
  });

  return (
    <main className="pair">
      <div className="card">
        <img src="/icon.svg" alt="" width={64} height={64} />
        <h1>Pair this device</h1>
        <p className="muted">
          Run <code>./svc device add NAME</code> where the assistant is installed, then open the link it prints here or scan its
          QR code.
        </p>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void redeem(text);
          }}
        >
          <label htmlFor="code">Link or code</label>
          <input
            id="code"
            value={text}
            onChange={(event) => setText(event.target.value)}
            autoComplete="one-time-code"
            autoCapitalize="off"
            spellCheck={false}
          />
          {fault !== null && (
            <p className="fault" role="alert">
              {fault}
            </p>
          )}
          <button type="submit" className="primary" disabled={isBusy || text.trim() === ''}>
            <Link2 aria-hidden size={18} /> {isBusy ? 'Pairing' : 'Pair device'}
          </button>
        </form>
      </div>
    </main>
  );
}

function faultOf(error: unknown): string {
  if (!(error instanceof GatewayFault)) return 'The assistant cannot be reached. Check your connection, then try again.';
  if (error.status === 403)
    return 'This code is invalid, used or older than ten minutes. Create a new one with ./svc device add.';
  return error.status === 429 ? 'Too many attempts. Wait a minute, then try again.' : error.message;
}
