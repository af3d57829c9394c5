# Scores, utility, theory and data -> tables and figures.
rule cells:
    input:
        code=script_of("cells"),
        data=lambda w: datasets_of(EXHIBITS[f"{w.paper}/{w.exhibit}"]["setups"]),
        tables=measured,
    output:
        "results/cells/{paper}/{exhibit}.csv",
    log:
        "logs/cells/{paper}/{exhibit}.log",
    group:
        at_once("exhibits")
    conda:
        "../envs/cpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=growing(5),
    params:
        contents=contents(script_of("cells")),
        exhibit=lambda w: EXHIBITS[f"{w.paper}/{w.exhibit}"],
        setups=lambda w: {
            s: plan.setups[s]["dataset"]
            for s in EXHIBITS[f"{w.paper}/{w.exhibit}"]["setups"]
        },
        scale=plan.scale,
    script:
        "../workflow/scripts/cells.py"


rule figure:
    input:
        unpack(printed_files),
        code=figure_code,
        cells="results/cells/{paper}/{exhibit}.csv",
    output:
        csv=report("results/exhibits/{paper}/{exhibit}.csv", **in_report("data")),
        png=report("results/exhibits/{paper}/{exhibit}.png", **in_report("figure")),
        pdf="results/exhibits/{paper}/{exhibit}.pdf",
    log:
        "logs/exhibits/{paper}/{exhibit}.log",
    group:
        at_once("exhibits")
    conda:
        "../envs/cpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=growing(5),
    params:
        contents=contents(figure_code, lambda w: printed_files(w).values()),
        exhibit=lambda w: EXHIBITS[f"{w.paper}/{w.exhibit}"],
        options=lambda w: plan.plot_options(w.paper, w.exhibit),
        caption=lambda w: EXHIBITS[f"{w.paper}/{w.exhibit}"]["caption"],
    script:
        "../workflow/scripts/exhibit.py"


use rule figure as table with:
    output:
        csv=report("results/exhibits/{paper}/{exhibit}.csv", **in_report("data")),
        png=report("results/exhibits/{paper}/{exhibit}.png", **in_report("table")),
        pdf="results/exhibits/{paper}/{exhibit}.pdf",
        md="results/exhibits/{paper}/{exhibit}.md",
        tex="results/exhibits/{paper}/{exhibit}.tex",
    wildcard_constraints:
        exhibit=one_of(TABLES),


internals.prefer("table", "figure")
