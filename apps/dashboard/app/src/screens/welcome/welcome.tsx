import { t } from '@svc/chat-ui/language/t.ts';
import { Link, useParams } from '@tanstack/react-router';
import { Page } from '../../parts/page.tsx';
import { ChannelStep } from './channel-step.tsx';
import { EngineStep } from './engine-step.tsx';
import { MessageStep } from './message-step.tsx';
import { type Step, steps, stepWords } from './steps.ts';

const views: Record<Step, () => React.ReactNode> = { engine: EngineStep, message: MessageStep, channel: ChannelStep };

/** The first run: an engine, a first reply, a channel. Each step can be skipped; Home shows later what is missing. */
export function Welcome() {
  const { step: named } = useParams({ from: '/welcome/$step' });
  const step = steps.find((name) => name === named) ?? 'engine';
  const View = views[step];
  return (
    <Page
      title={t('Welcome')}
      actions={
        <Link to="/" className="plain-button">
          {t('Skip for now')}
        </Link>
      }
    >
      <ol className="welcome-steps" aria-label={t('Steps')}>
        {steps.map((name) => (
          <li key={name} aria-current={name === step ? 'step' : undefined}>
            <Link to="/welcome/$step" params={{ step: name }}>
              {stepWords[name]}
            </Link>
          </li>
        ))}
      </ol>
      <View />
    </Page>
  );
}
