/** One setting as it may be shown. Secrets are not part of this. */
export interface SettingView {
  /** The name of the environment variable. */
  name: string;
  value: string | number | null;
  /** Whether it has its default. */
  isDefault: boolean;
  meaning: string;
}

export interface SettingsView {
  version: string;
  settings: SettingView[];
}
