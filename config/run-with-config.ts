// Runs a program with its settings: how each of them ends when a setting is missing or wrong.
import { ConfigError, loadConfig, type Config } from './config.ts';

/** Wrong settings are named on standard error and give exit code 1; every other error is thrown. */
export async function runWithConfig(run: (config: Config) => Promise<void>): Promise<void> {
  try {
    await run(loadConfig());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
