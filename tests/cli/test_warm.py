"""What is compiled ahead is compiled by training, once."""

from structopt.cli import main


def test_it_trains_and_says_how_long_it_took(capsys):
    assert main(["warm"]) == 0
    assert capsys.readouterr().out.startswith("compiled in ")
    assert main(["warm", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
