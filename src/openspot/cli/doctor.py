"""`openspot doctor`."""

from typing import Annotated, Any

import typer

from openspot.cli.common import console
from openspot.kit.log import configure_log
from openspot.kit.settings import SettingsError, load


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Every finding as JSON, also those that are fine.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show also what is fine.")] = False,
) -> None:
    """Look at this machine and this deployment, and say what is wrong and what to do. Changes nothing.

    Works whether the platform runs or not. Exit code 1: there is a problem; warnings alone leave it 0.
    """
    import msgspec

    from openspot.doctor.examine import deployment_findings, machine_findings
    from openspot.doctor.findings import Finding, Level, exit_code, problem
    from openspot.up.services import PlatformSettings

    findings: list[Finding] = list(machine_findings())
    settings: Any = None
    try:
        settings = load(PlatformSettings)
    except SettingsError as error:
        findings += [problem("settings", line, "correct the variable") for line in str(error).splitlines()]
    if settings is not None:
        configure_log(settings.model_copy(update={"log_level": "ERROR"}), "doctor")
        findings += deployment_findings(settings)
    if as_json:
        counts = {level.value: sum(finding.level is level for finding in findings) for level in Level}
        typer.echo(msgspec.json.format(msgspec.json.encode({**counts, "findings": findings}), indent=1).decode())
        raise typer.Exit(exit_code(findings))
    marks = {Level.FINE: "[green]✓[/green]", Level.WARNING: "[yellow]![/yellow]", Level.PROBLEM: "[red]✗[/red]"}
    from rich.markup import escape

    for finding in findings:
        if everything or finding.level is not Level.FINE:
            line = f"{marks[finding.level]} {finding.name:20} {escape(finding.line)}"
            console.print(line, highlight=False, soft_wrap=True)
    problems = sum(finding.level is Level.PROBLEM for finding in findings)
    warnings = sum(finding.level is Level.WARNING for finding in findings)
    console.print(f"points: {len(findings)}, problems: {problems}, warnings: {warnings}", highlight=False)
    raise typer.Exit(exit_code(findings))
