"""Intake: any dialect's JSON becomes one validated Prompt, or one error that names the field."""
